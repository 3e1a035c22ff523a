#include "tensor/dtype.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace corelane::tensor {
namespace {

struct Row {
  DType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Row, 14> kRows{{
    {DType::kBool, "BOOL", 1},
    {DType::kUint8, "UINT8", 1},
    {DType::kUint16, "UINT16", 2},
    {DType::kUint32, "UINT32", 4},
    {DType::kUint64, "UINT64", 8},
    {DType::kInt8, "INT8", 1},
    {DType::kInt16, "INT16", 2},
    {DType::kInt32, "INT32", 4},
    {DType::kInt64, "INT64", 8},
    {DType::kFp16, "FP16", 2},
    {DType::kFp32, "FP32", 4},
    {DType::kFp64, "FP64", 8},
    {DType::kBytes, "BYTES", 0},
    {DType::kBf16, "BF16", 2},
}};

const Row& row_of(DType type) { return kRows[static_cast<std::size_t>(type) - 1]; }

}  // namespace

std::size_t size_of(DType type) { return row_of(type).size; }

std::string_view name_of(DType type) { return row_of(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) {
      return row.type;
    }
  }
  return std::nullopt;
}

}  // namespace corelane::tensor
