#include "cli/completion.h"

#include <fmt/format.h>

#include <string>

namespace corelane::cli {
namespace {

std::string long_options(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words += "--" + name + " ";
    }
  }
  return words;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) {
      continue;
    }
    names += command->get_name() + " ";
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), long_options(*command));
  }
  return fmt::format(R"(_{0}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=''
  case "${{COMP_WORDS[1]}}" in
{1}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{2}{3}' -- "$current"))
  elif [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _{0} {0}
)",
                     app.get_name(), cases, names, long_options(app));
}

}  // namespace corelane::cli
