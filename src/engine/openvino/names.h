#pragma once

#include <cstddef>
#include <cstdint>
#include <openvino/core/node_output.hpp>
#include <openvino/core/type/element_type.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corelane::engine::openvino {

/// The boundary's data type for OpenVINO's; nullopt where the boundary has none.
std::optional<std::uint32_t> dtype_of(ov::element::Type type);
/// As it is written to a person: "INT64".
std::string_view dtype_name(std::uint32_t dtype);

using Ports = std::vector<ov::Output<const ov::Node>>;

/// For each wanted name the index of the port that has it. Each port may be wanted once; `kind` is
/// "input" or "output". Errors list the names that there are.
Result<std::vector<std::size_t>> find_ports(const Ports& ports, std::span<const char* const> wanted,
                                            std::string_view kind);

}  // namespace corelane::engine::openvino
