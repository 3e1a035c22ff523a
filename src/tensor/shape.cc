#include "tensor/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/check.h"

namespace corelane::tensor {

Shape::Shape(std::initializer_list<std::int64_t> dims) {
  const auto shape = from(std::span(dims.begin(), dims.size()));
  check(shape.has_value(),
        "a shape written in code has at most kMaxRank dimensions, none negative");
  *this = *shape;
}

std::optional<Shape> Shape::from(std::span<const std::int64_t> dims) {
  if (dims.size() > kMaxRank ||
      std::ranges::any_of(dims, [](std::int64_t size) { return size < 0; })) {
    return std::nullopt;
  }
  Shape shape;
  std::ranges::copy(dims, shape.dims_.begin());
  shape.rank_ = dims.size();
  return shape;
}

std::optional<std::int64_t> Shape::elements() const {
  if (std::ranges::find(dims(), 0) != dims().end()) {
    return 0;
  }
  std::int64_t product = 1;
  for (const std::int64_t size : dims()) {
    if (product > std::numeric_limits<std::int64_t>::max() / size) {
      return std::nullopt;
    }
    product *= size;
  }
  return product;
}

bool operator==(const Shape& a, const Shape& b) { return std::ranges::equal(a.dims(), b.dims()); }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape.dims()) {
    if (text.size() > 1) {
      text += ',';
    }
    text += std::to_string(size);
  }
  return text + "]";
}

}  // namespace corelane::tensor
