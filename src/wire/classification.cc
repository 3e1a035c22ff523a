#include "wire/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"
#include "wire/half.h"

namespace corelane::wire {
namespace {

using tensor::DType;

/// A row of scores as they lie in a tensor. `Read` makes a number of the stored bits.
template <typename Stored, typename Read>
class Row {
 public:
  Row(std::span<const std::byte> bytes, Read read) : bytes_(bytes), read_(read) {}

  std::size_t size() const { return bytes_.size() / sizeof(Stored); }
  auto operator[](std::size_t index) const {
    Stored stored{};
    std::memcpy(&stored, bytes_.data() + index * sizeof stored, sizeof stored);
    return read_(stored);
  }

 private:
  std::span<const std::byte> bytes_;
  Read read_;
};

template <typename Number>
bool is_nan(Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    return std::isnan(number);
  } else {
    return false;
  }
}

template <typename RowOfScores>
bool ranks_before(const RowOfScores& row, std::uint32_t a, std::uint32_t b) {
  const auto left = row[a];
  const auto right = row[b];
  if (is_nan(left) || is_nan(right)) {
    return is_nan(left) == is_nan(right) ? a < b : is_nan(right);
  }
  return left > right || (left == right && a < b);
}

void append_element(std::vector<std::byte>& out, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  const auto prefix = std::as_bytes(std::span(&length, 1));
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  out.insert(out.end(), prefix.begin(), prefix.end());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <typename RowOfScores>
void append_row(const RowOfScores& row, std::size_t count, std::span<const std::string> labels,
                std::vector<std::byte>& out) {
  std::vector<std::uint32_t> order(row.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), end, order.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return ranks_before(row, a, b); });
  order.resize(count);
  for (const std::uint32_t index : order) {
    const bool labelled = index < labels.size() && !labels[index].empty();
    append_element(out, labelled ? fmt::format("{}:{}:{}", row[index], index, labels[index])
                                 : fmt::format("{}:{}", row[index], index));
  }
}

/// Calls use(Row) with the bytes read as the datatype's numbers; false for one without numbers.
template <typename Use>
bool with_row(DType dtype, std::span<const std::byte> bytes, Use&& use) {
  const auto as = [&]<typename Stored>(Stored /*type*/) {
    const auto same = [](Stored stored) { return stored; };
    use(Row<Stored, decltype(same)>(bytes, same));
    return true;
  };
  const auto half = [&](float (*read)(std::uint16_t)) {
    use(Row<std::uint16_t, decltype(read)>(bytes, read));
    return true;
  };
  switch (dtype) {
    case DType::kUint8:
      return as(std::uint8_t{});
    case DType::kUint16:
      return as(std::uint16_t{});
    case DType::kUint32:
      return as(std::uint32_t{});
    case DType::kUint64:
      return as(std::uint64_t{});
    case DType::kInt8:
      return as(std::int8_t{});
    case DType::kInt16:
      return as(std::int16_t{});
    case DType::kInt32:
      return as(std::int32_t{});
    case DType::kInt64:
      return as(std::int64_t{});
    case DType::kFp16:
      return half(float_from_fp16);
    case DType::kBf16:
      return half(float_from_bf16);
    case DType::kFp32:
      return as(float{});
    case DType::kFp64:
      return as(double{});
    case DType::kBool:
    case DType::kBytes:
      return false;
  }
  return false;
}

}  // namespace

Result<tensor::TensorView> classify(const tensor::TensorView& scores,
                                    const ClassificationWish& wish,
                                    std::vector<std::byte>& memory) {
  const auto elements = scores.shape.elements();
  const std::size_t width = size_of(scores.dtype);
  if (!elements ||
      (width > 0 && scores.bytes.size() != static_cast<std::size_t>(*elements) * width)) {
    return internal_error("a tensor's bytes are not those of its shape");
  }
  const bool batched = wish.batched && scores.shape.rank() > 0;
  const std::int64_t rows = batched ? scores.shape[0] : 1;
  const std::int64_t row_size = rows == 0 ? 0 : *elements / rows;
  const auto count = static_cast<std::int64_t>(
      std::min<std::uint64_t>(wish.count, static_cast<std::uint64_t>(row_size)));
  memory.clear();
  const std::size_t row_bytes = static_cast<std::size_t>(row_size) * width;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto bytes = scores.bytes.subspan(static_cast<std::size_t>(row) * row_bytes, row_bytes);
    const bool numbers = with_row(scores.dtype, bytes, [&](const auto& row_of_scores) {
      append_row(row_of_scores, static_cast<std::size_t>(count), wish.labels, memory);
    });
    if (!numbers) {
      return invalid_argument(
          fmt::format("{} cannot be classified, only numbers can", name_of(scores.dtype)));
    }
  }
  return tensor::TensorView{
      .dtype = DType::kBytes,
      .shape = batched ? tensor::Shape({rows, count}) : tensor::Shape({count}),
      .bytes = memory};
}

}  // namespace corelane::wire
