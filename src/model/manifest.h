#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"

namespace corelane::model {

/// One dimension of a tensor as the manifest writes it: a fixed size, or the name of a dimension
/// that varies. Inputs that share a name must agree in size within a request; the name "batch" in
/// first place is the batch.
using Dim = std::variant<std::int64_t, std::string>;

inline constexpr std::string_view kBatch = "batch";

struct TensorSpec {
  std::string name;
  tensor::DType type = tensor::DType::kFp32;
  std::vector<Dim> shape;
  double pad = 0;  // the value that padding along a varying dimension has
  /// Outputs only: the file with the names of its classes, relative to the version's folder; empty:
  /// they have none.
  std::string labels = {};
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// What a named dimension may be.
struct Dimension {
  std::int64_t min = 1;
  std::int64_t max = 0;               // 0: no limit of its own
  std::vector<std::int64_t> buckets;  // ascending; empty: any size is run as it is
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct Accuracy {
  std::string measure;
  double value = 0;
  double reference = 0;
  std::string on;
  friend bool operator==(const Accuracy&, const Accuracy&) = default;
};

/// One artifact of a version.
struct Precision {
  std::string engine;  // "openvino", "torch", "probe"
  std::string file;    // relative to the version's folder; empty for engines without artifacts
  std::optional<Accuracy> accuracy;
  /// JSON object, handed to the engine as it is; without spaces and with its keys sorted.
  std::string options = "{}";
  friend bool operator==(const Precision&, const Precision&) = default;
};

/// Which operators of the source model the engine takes.
struct Coverage {
  std::string engine;  // "openvino 2026.4.1"
  std::int64_t operators = 0;
  std::int64_t operators_taken = 0;
  std::int64_t arithmetic = 0;
  std::int64_t arithmetic_taken = 0;
  std::int64_t subgraphs = 0;
  std::vector<std::string> not_taken;  // "GridSample (3 uses)"
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// How large the model is; flops are those of one run at `shape`, a multiplication and an addition
/// counting as two.
struct Size {
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  double flops = 0;
  std::string shape;  // "[1,128]"
  friend bool operator==(const Size&, const Size&) = default;
};

/// models/<model>/<version>/model.toml. docs/formats/manifest.md is its page.
struct Manifest {
  std::string name;
  std::int64_t version = 1;
  std::string task;  // "question-answering", "embedding", ...; empty: tensors only
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::map<std::string, Dimension> dimensions;  // every name that a shape uses, and no other
  std::map<std::string, Precision> precisions;
  std::optional<Coverage> coverage;
  std::optional<Size> size;
  bool load_at_start = true;   // false: only an explicit load brings it up
  std::string source_sha256;   // of the file or folder that it was compiled from
  std::string source_options;  // what else decided the result: "--engine torch --max-batch 8"
  std::string made_by;         // "corelane 0.1.0, openvino 2026.4.1"
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// Largest number of rows that one run may have; 0 where the first dimension of any input is not
/// the batch. parse_manifest sees to it that where all inputs begin with the batch, so do all
/// outputs.
std::int64_t max_batch(const Manifest& manifest);

/// True for what may be the name of a model: 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a
/// full stop.
bool is_model_name(std::string_view name);

/// Errors name the line, the field and the rule it breaks: "qa/model.toml:12: input 'x': ...".
/// `where` is what they call the file.
Result<Manifest> parse_manifest(std::string_view toml, const std::string& where);
Result<Manifest> read_manifest(const std::filesystem::path& file);

/// The text of model.toml, with comments for the person who edits it;
/// parse_manifest(write_manifest(m)) == m.
std::string write_manifest(const Manifest& manifest);

}  // namespace corelane::model
