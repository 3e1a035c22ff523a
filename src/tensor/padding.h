#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::tensor {

// A part is a tensor that lies inside a whole of the same type and rank: from row `row` along the
// first axis, from 0 along the others. Both are dense and row-major.
//
//   whole [3,4], part [1,2] at row 1:   . . . .
//                                       p p . .
//                                       . . . .
//
// Precondition of all functions with a part: it fits (part_fits), the spans have the sizes that the
// shapes ask for, and the type is not kBytes.

/// Whether a part of this shape lies inside the whole. A rank of 0 has no rows: row must be 0.
bool part_fits(const Shape& whole, const Shape& part, std::int64_t row);

/// Whether the part is one unbroken stretch of the whole, so that it can be used where it is.
bool is_contiguous(const Shape& whole, const Shape& part);

/// Copies the part's elements to their places in the whole; what lies beside it stays as it is.
void paste(std::span<std::byte> whole, const Shape& whole_shape, std::span<const std::byte> part,
           const Shape& part_shape, std::int64_t row, DType type);

/// The other way: copies the part's elements out of the whole.
void cut(std::span<std::byte> part, const Shape& part_shape, std::span<const std::byte> whole,
         const Shape& whole_shape, std::int64_t row, DType type);

/// Sets every element to `value`, converted to the type: rounded to the nearest that it can hold
/// (ties to even for FP16 and BF16), clamped to the range of an integer type, BOOL true for all but
/// 0. Precondition: the span is a whole number of elements, the type is not kBytes.
void fill(std::span<std::byte> elements, DType type, double value);

/// Where the first `count` elements of a BYTES tensor end; nullopt where it is shorter than its
/// lengths say.
std::optional<std::size_t> bytes_elements_end(std::span<const std::byte> tensor,
                                              std::int64_t count);

}  // namespace corelane::tensor
