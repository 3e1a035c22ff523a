#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input_option.h"
#include "model/manifest.h"

namespace corelane::cli {

/// What `corelane compile` is asked for.
struct CompileOptions {
  std::string source;
  std::string name;  // empty: the source's own
  std::string models = "models";
  std::string engine = "openvino";
  std::vector<std::string> precisions = {"f32", "bf16"};
  std::vector<InputOption> inputs;
  std::int64_t max_batch = 32;
  std::string task;
  std::string pooling;  // "mean", "none"; empty: what the source says
  std::optional<std::int64_t> version;
};

/// The name of a model that was given none: "minilm" for "models/minilm/", "resnet50" for
/// "resnet50.onnx", with what a name may not have replaced.
std::string default_name(const std::string& source);

/// All that decides the result beside the source, the same text for the same wishes. It stands in
/// the manifest.
std::string options_text(const CompileOptions& options);

/// The JSON that corelane_tools.compile reads; `out` is the folder that it fills.
std::string compile_request(const CompileOptions& options, const std::string& out);

/// What corelane_tools.compile has made.
struct Compiled {
  model::Manifest manifest;  // without name, version and source
  std::int64_t layers = 0;   // 0: not known
  std::string tokenizer;     // "WordPiece, 30,522 tokens"; empty: none
  std::string warning;       // about the tokenizer
};

/// Reads the tool's answer. An error in it is the error of the result.
Result<Compiled> parse_compiled(const std::string& json);

/// The lines that a person reads.
std::string summary_text(const Compiled& compiled, const std::string& folder);
/// The same as one JSON object; `unchanged`: the version was there already.
enum class Outcome { kMade, kUnchanged };
std::string summary_json(const model::Manifest& manifest, const std::string& folder,
                         Outcome outcome);

}  // namespace corelane::cli
