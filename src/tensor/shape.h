#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace corelane::tensor {

inline constexpr std::size_t kMaxRank = 8;

/// A concrete shape: up to kMaxRank dimensions, none negative, row-major. A value without
/// allocation, since one is made for every tensor of every request.
class Shape {
 public:
  Shape() = default;
  /// Precondition: dims.size() <= kMaxRank and no dimension negative. Use from() for input.
  Shape(std::initializer_list<std::int64_t> dims);

  /// nullopt where there are more than kMaxRank dimensions or one is negative.
  static std::optional<Shape> from(std::span<const std::int64_t> dims);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  void set(std::size_t axis, std::int64_t size) { dims_[axis] = size; }
  std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }

  /// Product of the dimensions, 1 for rank 0; nullopt where it does not fit 63 bits.
  std::optional<std::int64_t> elements() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  std::size_t rank_ = 0;
};

/// "[1,128]"
std::string to_string(const Shape& shape);

}  // namespace corelane::tensor
