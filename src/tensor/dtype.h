#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corelane::tensor {

/// Element types of the v2 protocol. The numbers are those of engine_abi.h and never change.
enum class DType : std::uint8_t {
  kBool = 1,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kFp32,
  kFp64,
  kBytes,  // elements of any length; in memory each is a little-endian uint32 length and that many
           // bytes
  kBf16,
};

/// Bytes of one element; 0 for kBytes.
std::size_t size_of(DType type);

/// The protocol's name: "FP32", "BYTES", "BF16".
std::string_view name_of(DType type);

/// nullopt for a name that the protocol does not have. Case-sensitive, as the protocol is.
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace corelane::tensor
