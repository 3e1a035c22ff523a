// Scores of any bits: classes come whole, counted, and the best of each row first.
#include "wire/classification.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/v2_infer.h"

/// Bytes: datatype, rows, how many classes, then the scores.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using corelane::tensor::DType;
  constexpr std::size_t kHead = 3;
  if (size < kHead) return 0;
  const auto dtype = static_cast<DType>(1 + data[0] % 14);
  const std::size_t width = corelane::tensor::size_of(dtype);
  if (width == 0) return 0;
  const std::int64_t rows = 1 + data[1] % 4;
  const auto per_row = static_cast<std::int64_t>((size - kHead) / width) / rows;
  const auto scores = std::as_bytes(std::span(data + kHead, size - kHead))
                          .first(static_cast<std::size_t>(rows * per_row) * width);
  const std::vector<std::string> labels{"first", "", "third"};
  std::vector<std::byte> memory;
  const auto classes =
      corelane::wire::classify({.dtype = dtype, .shape = {rows, per_row}, .bytes = scores},
                               {.count = data[2], .batched = true, .labels = labels}, memory);
  if (dtype == DType::kBool) {
    corelane::check(!classes, "booleans have no order");
    return 0;
  }
  corelane::check(classes.has_value(), "numbers can be classified");
  corelane::check(classes->shape[0] == rows && classes->shape[1] <= per_row,
                  "there are no more classes than scores");
  corelane::check(
      corelane::wire::check_bytes_elements(classes->bytes, *classes->shape.elements()).has_value(),
      "texts are whole and counted");
  return 0;
}
