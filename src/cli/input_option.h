#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"

namespace corelane::cli {

/// One size of an --input: fixed where min == max.
struct DimOption {
  std::string name;  // empty: not named by the user
  std::int64_t min = 1;
  std::int64_t max = 0;  // 0: no limit
  friend bool operator==(const DimOption&, const DimOption&) = default;
};

/// What the user says about one input.
struct InputOption {
  std::string name;
  tensor::DType type = tensor::DType::kFp32;
  std::vector<DimOption> shape;
  friend bool operator==(const InputOption&, const InputOption&) = default;
};

/// Reads "input_ids:int64[batch=?,1..512]". A dimension is a size, `?` for any, or `low..high`,
/// each with `name=` in front if wanted. Types go by the protocol's names in any case and by those
/// of PyTorch and NumPy (float32, half, long). Errors quote the text and show the right form.
Result<InputOption> parse_input_option(std::string_view text);

}  // namespace corelane::cli
