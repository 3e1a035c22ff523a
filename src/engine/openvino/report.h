#pragma once

#include <cstdint>
#include <openvino/runtime/compiled_model.hpp>
#include <string>

namespace corelane::engine::openvino {

/// Memory of this process now, in bytes; 0 where /proc does not tell.
std::uint64_t resident_bytes();

/// What `model` really runs, as the boundary's JSON: device, count of operators by the precision
/// that OpenVINO chose and by layer type, threads, settings, memory.
std::string report_on(const ov::CompiledModel& model, std::uint64_t memory_bytes);

}  // namespace corelane::engine::openvino
