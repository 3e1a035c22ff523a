#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/help_topics.h"

namespace corelane::cli {
namespace {

int print_overview(const std::string& usage) {
  fmt::print("{}\nTopics of `corelane help TOPIC`, besides the commands:\n", usage);
  for (const HelpTopic& topic : help_topics()) {
    fmt::print("  {:<27} {}\n", topic.name, topic.summary);
  }
  return kDone;
}

int print_help(const CLI::App& app, const std::string& topic) {
  for (const HelpTopic& known : help_topics()) {
    if (known.name == topic) {
      fmt::print("{}", known.text);
      return kDone;
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == topic) {
      fmt::print("{}", command->help("corelane"));
      return kDone;
    }
  }
  fmt::print(stderr, "corelane help: no topic '{}'; `corelane help` lists them\n", topic);
  return kUsage;
}

Run add_help(CLI::App& app, CLI::App& command) {
  auto topic = std::make_shared<std::string>();
  command.add_option("topic", *topic, "A command or a topic");
  // Made before parsing: afterwards App::help() speaks of the subcommand that was given.
  return [&app, topic, usage = app.help()](Environment&) {
    return topic->empty() ? print_overview(usage) : print_help(app, *topic);
  };
}

Run add_completion(CLI::App& app, CLI::App& command) {
  auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  command.footer(
      "Examples:\n"
      "  source <(corelane completion bash)\n"
      "  corelane completion bash > ~/.local/share/bash-completion/completions/corelane\n");
  return [&app, shell](Environment&) {
    fmt::print("{}", bash_completion(app));
    return kDone;
  };
}

CLI::App* add_command(CLI::App& app, const Command& command) {
  CLI::App* added = app.add_subcommand(std::string(command.name), std::string(command.summary));
  if (command.summary.empty()) {
    added->group("");
  }
  return added;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, Environment& environment) {
  CLI::App app("Measures what serving a model costs on this machine, and serves it.", "corelane");
  app.set_version_flag("--version", "corelane " CORELANE_VERSION);
  app.require_subcommand(1);
  app.footer("`corelane help COMMAND` shows examples. Results go to stdout, progress to stderr.");
  std::map<const CLI::App*, Run> runs;
  for (const Command& command : command_table()) {
    CLI::App* added = add_command(app, command);
    runs[added] = command.add(*added);
  }
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  runs[completion] = add_completion(app, *completion);
  CLI::App* help = app.add_subcommand("help", "Show help on a command or a topic");
  runs[help] = add_help(app, *help);

  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& stop) {  // --help and --version come this way too
    return app.exit(stop) == 0 ? kDone : kUsage;
  }
  return runs[app.get_subcommands().front()](environment);
}

}  // namespace corelane::cli
