#include "engine/openvino/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"

namespace corelane::engine::openvino {
namespace {

using tensor::DType;

struct TypePair {
  ov::element::Type_t type;
  DType dtype;
  std::string_view name;
};

constexpr std::array<TypePair, 13> kTypes{{
    {ov::element::Type_t::boolean, DType::kBool, "BOOL"},
    {ov::element::Type_t::u8, DType::kUint8, "UINT8"},
    {ov::element::Type_t::u16, DType::kUint16, "UINT16"},
    {ov::element::Type_t::u32, DType::kUint32, "UINT32"},
    {ov::element::Type_t::u64, DType::kUint64, "UINT64"},
    {ov::element::Type_t::i8, DType::kInt8, "INT8"},
    {ov::element::Type_t::i16, DType::kInt16, "INT16"},
    {ov::element::Type_t::i32, DType::kInt32, "INT32"},
    {ov::element::Type_t::i64, DType::kInt64, "INT64"},
    {ov::element::Type_t::f16, DType::kFp16, "FP16"},
    {ov::element::Type_t::f32, DType::kFp32, "FP32"},
    {ov::element::Type_t::f64, DType::kFp64, "FP64"},
    {ov::element::Type_t::bf16, DType::kBf16, "BF16"},
}};

bool has_name(const ov::Output<const ov::Node>& port, const std::string& name) {
  return port.get_names().contains(name);
}

std::string names_of(const Ports& ports) {
  std::string all;
  for (const auto& port : ports) {
    all += all.empty() ? "" : ", ";
    all += port.get_names().empty() ? "(unnamed)" : port.get_any_name();
  }
  return all;
}

}  // namespace

std::optional<std::uint32_t> dtype_of(ov::element::Type type) {
  const auto* found = std::ranges::find(kTypes, ov::element::Type_t(type), &TypePair::type);
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found->dtype);
}

std::string_view dtype_name(std::uint32_t dtype) {
  const auto* found = std::ranges::find(kTypes, static_cast<DType>(dtype), &TypePair::dtype);
  return found == kTypes.end() ? "unknown" : found->name;
}

Result<std::vector<std::size_t>> find_ports(const Ports& ports, std::span<const char* const> wanted,
                                            std::string_view kind) {
  std::vector<std::size_t> found;
  for (const char* name : wanted) {
    const auto port =
        std::ranges::find_if(ports, [&](const auto& each) { return has_name(each, name); });
    const std::string what = std::string(kind) + " '" + name + "'";
    if (port == ports.end()) {
      return invalid_argument("the model has no " + what + "; it has: " + names_of(ports));
    }
    const auto index = static_cast<std::size_t>(port - ports.begin());
    if (std::ranges::find(found, index) != found.end()) {
      return invalid_argument(what + " is declared twice");
    }
    if (!dtype_of(port->get_element_type())) {
      return unsupported(what + " has elements of type " + port->get_element_type().to_string());
    }
    found.push_back(index);
  }
  return found;
}

}  // namespace corelane::engine::openvino
