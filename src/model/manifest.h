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
};

/// What a named dimension may be.
struct Dimension {
  std::int64_t min = 1;
  std::int64_t max = 0;               // 0: no limit of its own
  std::vector<std::int64_t> buckets;  // ascending; empty: any size is run as it is
};

struct Accuracy {
  std::string measure;
  double value = 0;
  double reference = 0;
  std::string on;
};

/// One artifact of a version.
struct Precision {
  std::string engine;  // "openvino", "torch", "probe"
  std::string file;    // relative to the version's folder; empty for engines without artifacts
  std::optional<Accuracy> accuracy;
  std::string options = "{}";  // JSON object, handed to the engine as it is
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
};

/// How large the model is; flops are those of one run at `shape`, a multiplication and an addition
/// counting as two.
struct Size {
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  double flops = 0;
  std::string shape;  // "[1,128]"
};

/// models/<model>/<version>/model.toml. docs/formats/manifest.md is its page.
struct Manifest {
  std::string name;
  std::int64_t version = 1;
  std::string task;  // "question-answering", "embedding", ...; empty: tensors only
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::map<std::string, Dimension> dimensions;
  std::map<std::string, Precision> precisions;
  std::optional<Coverage> coverage;
  std::optional<Size> size;
  bool load_at_start = true;  // false: only an explicit load brings it up
  std::string source_sha256;
  std::string made_by;
};

/// Largest number of rows that one run may have; 0 where the first dimension of any input is not
/// the batch.
std::int64_t max_batch(const Manifest& manifest);

/// Errors name the line, or the field and the rule it breaks.
Result<Manifest> parse_manifest(std::string_view toml, const std::string& where);
Result<Manifest> read_manifest(const std::filesystem::path& file);

/// With comments for the person who edits it; parse_manifest(write_manifest(m)) == m.
std::string write_manifest(const Manifest& manifest);

}  // namespace corelane::model
