#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/compile_plan.h"
#include "cli/input_option.h"
#include "cli/source_digest.h"
#include "cli/subprocess.h"
#include "model/repository.h"

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(Examples:
  corelane compile minilm/ --name minilm
  corelane compile bert.pt --name qa --input 'input_ids:int64[?,1..512]' \
      --input 'attention_mask:int64[?,1..512]'

PATH is a Hugging Face directory (config.json, weights, tokenizer), an ONNX file, OpenVINO IR (.xml)
or a TorchScript file (.pt), which needs its inputs described: `corelane help inputs`.
The version is numbered after the newest one and appears whole or not at all. Nothing is done where
the newest version was made from the same source with the same options.
)";

struct Wishes {
  CompileOptions options;
  std::vector<std::string> inputs;
  std::int64_t version = 0;  // 0: the next
  bool json = false;
};

std::string python() {
  const char* chosen = std::getenv("CORELANE_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : CORELANE_VENV "/bin/python";
}

/// Runs corelane_tools.compile, which fills `folder`.
Result<Compiled> run_tool(const CompileOptions& options, const fs::path& folder) {
  const std::string interpreter = python();
  std::error_code failed;
  if (!fs::exists(interpreter, failed)) {
    return not_found(
        fmt::format("{}: no Python with the model frameworks is there\n  Install it with "
                    "tools/setup, or name another in CORELANE_PYTHON.",
                    interpreter));
  }
  const auto finished = run_program({.arguments = {interpreter, "-m", "corelane_tools.compile",
                                                   compile_request(options, folder.string())},
                                     .environment = {"PYTHONPATH=" CORELANE_PYTHON_FOLDER}});
  if (!finished) {
    return finished.error();
  }
  if (finished->out.empty()) {
    return internal_error(
        fmt::format("corelane_tools.compile ended with status {} and without an "
                    "answer{}",
                    finished->status, finished->status == 128 + 9 ? ": out of memory?" : ""));
  }
  return parse_compiled(finished->out);
}

/// The newest version, if it was made from just this.
std::optional<model::Version> made_before(const CompileOptions& options,
                                          const std::string& digest) {
  if (options.version) {
    return std::nullopt;
  }
  auto newest = model::newest_version(options.models, options.name);
  if (!newest || newest->manifest.source_sha256 != digest ||
      newest->manifest.source_options != options_text(options)) {
    return std::nullopt;
  }
  for (const auto& [name, precision] : newest->manifest.precisions) {
    std::error_code failed;
    if (!fs::exists(newest->folder / precision.file, failed)) {
      return std::nullopt;
    }
  }
  return *std::move(newest);
}

struct Made {
  Compiled compiled;
  std::string folder;
};

Result<Made> make_version(const CompileOptions& options, const std::string& digest) {
  auto draft = model::Draft::begin(options.models, options.name);
  if (!draft) {
    return std::move(draft).error();
  }
  auto compiled = run_tool(options, draft->folder());
  if (!compiled) {
    return std::move(compiled).error();
  }
  model::Manifest manifest = compiled->manifest;
  manifest.source_sha256 = digest;
  manifest.source_options = options_text(options);
  manifest.made_by = "corelane " CORELANE_VERSION ", " + manifest.made_by;
  auto version = draft->publish(std::move(manifest), options.version);
  if (!version) {
    return std::move(version).error();
  }
  compiled->manifest = version->manifest;
  return Made{*std::move(compiled), version->folder.string()};
}

int failed(const Error& error) {
  if (error.code == ErrorCode::kCancelled) {
    fmt::print(stderr, "corelane compile: interrupted; nothing was written\n");
    return kInterrupted;
  }
  fmt::print(stderr, "corelane compile: {}\n", error.message);
  return kFailed;
}

int run_compile(const Wishes& wishes) {
  CompileOptions options = wishes.options;
  for (const std::string& text : wishes.inputs) {
    auto input = parse_input_option(text);
    if (!input) {
      fmt::print(stderr, "corelane compile: {}\n", input.error().message);
      return kUsage;
    }
    options.inputs.push_back(*std::move(input));
  }
  options.name = options.name.empty() ? default_name(options.source) : options.name;
  options.version = wishes.version > 0 ? std::optional(wishes.version) : std::nullopt;
  const auto digest = source_digest(options.source);
  if (!digest) {
    return failed(digest.error());
  }
  if (const auto before = made_before(options, *digest)) {
    if (wishes.json) {
      fmt::print("{}",
                 summary_json(before->manifest, before->folder.string(), Outcome::kUnchanged));
    } else {
      fmt::print("{}/{} is up to date: the same source and options\n-> {}\n", options.name,
                 before->manifest.version, before->folder.string());
    }
    return kDone;
  }
  const auto made = make_version(options, *digest);
  if (!made) {
    return failed(made.error());
  }
  fmt::print("{}", wishes.json ? summary_json(made->compiled.manifest, made->folder, Outcome::kMade)
                               : summary_text(made->compiled, made->folder));
  if (!made->compiled.warning.empty()) {
    fmt::print(stderr, "corelane compile: {}\n", made->compiled.warning);
  }
  return kDone;
}

}  // namespace

Run add_compile(CLI::App& command) {
  auto wishes = std::make_shared<Wishes>();
  CompileOptions& options = wishes->options;
  command.add_option("path", options.source, "The model: a file or a directory")->required();
  command.add_option("--name", options.name, "What clients call it (default: the source's name)");
  command.add_option("--input", wishes->inputs, "name:dtype[dims]; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--engine", options.engine, "What runs it: openvino or torch")
      ->check(CLI::IsMember({"openvino", "torch"}))
      ->capture_default_str();
  command.add_option("--precision", options.precisions, "One or more of f32,bf16")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  command.add_option("--max-batch", options.max_batch, "Most rows that one run may have")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command.add_option("--task", options.task, "What it is good for (default: the source's own)");
  command.add_option("--pooling", options.pooling, "Of embeddings: mean or none")
      ->check(CLI::IsMember({"mean", "none"}));
  command.add_option("--out", options.models, "The folder of models")->capture_default_str();
  command.add_option("--version", wishes->version, "The version's number (default: the next)")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  command.add_flag("--json", wishes->json, "Print the result as JSON");
  command.footer(kExamples);
  return [wishes](Environment&) { return run_compile(*wishes); };
}

}  // namespace corelane::cli
