#include "wire/tensor_json.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"
#include "wire/half.h"
#include "wire/json_text.h"
#include "wire/v2_infer.h"

namespace corelane::wire {
namespace {

using tensor::DType;

template <typename Stored>
Stored stored_at(const std::byte* at) {
  Stored value;
  std::memcpy(&value, at, sizeof value);  // tensors may lie at any address
  return value;
}

template <typename Stored, typename Write>
void append_elements(std::string& out, std::span<const std::byte> bytes, Write&& write) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Stored)) {
    if (at > 0) out += ',';
    write(stored_at<Stored>(bytes.data() + at));
  }
}

template <typename Stored, typename Written = Stored>
void append_numbers(std::string& out, std::span<const std::byte> bytes) {
  append_elements<Stored>(
      out, bytes, [&](Stored value) { append_json_number(out, static_cast<Written>(value)); });
}

Status append_strings(std::string& out, std::span<const std::byte> bytes) {
  std::size_t index = 0;
  for (std::size_t at = 0; at < bytes.size(); ++index) {
    const auto length = stored_at<std::uint32_t>(bytes.data() + at);
    at += sizeof length;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
    if (!is_utf8(text)) {
      return invalid_argument(fmt::format(
          "element {} is not UTF-8, which JSON cannot carry; ask for it with \"binary_data\": true",
          index));
    }
    if (index > 0) out += ',';
    append_json_string(out, text);
  }
  return {};
}

Status fits(const tensor::TensorView& tensor) {
  const auto elements = tensor.shape.elements();
  if (!elements) return internal_error("its shape has too many elements");
  if (tensor.dtype == DType::kBytes) {
    if (Status whole = check_bytes_elements(tensor.bytes, *elements); !whole) {
      return internal_error(whole.error().message);
    }
  } else if (tensor.bytes.size() / size_of(tensor.dtype) != static_cast<std::uint64_t>(*elements) ||
             tensor.bytes.size() % size_of(tensor.dtype) != 0) {
    return internal_error(fmt::format("{} bytes are not shape {} of {}", tensor.bytes.size(),
                                      to_string(tensor.shape), name_of(tensor.dtype)));
  }
  return {};
}

Status append_data(std::string& out, const tensor::TensorView& tensor) {
  const auto bytes = tensor.bytes;
  switch (tensor.dtype) {
    case DType::kBool:
      append_elements<std::uint8_t>(
          out, bytes, [&](std::uint8_t value) { out += value != 0 ? "true" : "false"; });
      break;
    case DType::kUint8:
      append_numbers<std::uint8_t, std::uint64_t>(out, bytes);
      break;
    case DType::kUint16:
      append_numbers<std::uint16_t, std::uint64_t>(out, bytes);
      break;
    case DType::kUint32:
      append_numbers<std::uint32_t, std::uint64_t>(out, bytes);
      break;
    case DType::kUint64:
      append_numbers<std::uint64_t>(out, bytes);
      break;
    case DType::kInt8:
      append_numbers<std::int8_t, std::int64_t>(out, bytes);
      break;
    case DType::kInt16:
      append_numbers<std::int16_t, std::int64_t>(out, bytes);
      break;
    case DType::kInt32:
      append_numbers<std::int32_t, std::int64_t>(out, bytes);
      break;
    case DType::kInt64:
      append_numbers<std::int64_t>(out, bytes);
      break;
    case DType::kFp16:
      append_elements<std::uint16_t>(out, bytes, [&](std::uint16_t value) {
        append_json_number(out, float_from_fp16(value));
      });
      break;
    case DType::kBf16:
      append_elements<std::uint16_t>(out, bytes, [&](std::uint16_t value) {
        append_json_number(out, float_from_bf16(value));
      });
      break;
    case DType::kFp32:
      append_numbers<float>(out, bytes);
      break;
    case DType::kFp64:
      append_numbers<double>(out, bytes);
      break;
    case DType::kBytes:
      return append_strings(out, bytes);
  }
  return {};
}

}  // namespace

Status append_tensor_json(std::string& out, const tensor::TensorView& tensor) {
  if (Status fitting = fits(tensor); !fitting) return fitting;
  out += '[';
  if (Status appended = append_data(out, tensor); !appended) return appended;
  out += ']';
  return {};
}

}  // namespace corelane::wire
