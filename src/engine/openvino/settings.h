#pragma once

#include <openvino/core/any.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"

namespace corelane::engine::openvino {

/// The properties with which a model is compiled: one stream on the lane's threads, whose affinity
/// is already in place. `capabilities` is the device's OPTIMIZATION_CAPABILITIES; a precision that
/// it lacks is kUnsupported, since OpenVINO itself would quietly run another. The manifest's
/// options may set any property: {"properties": {"CPU_RUNTIME_CACHE_CAPACITY": 100}}.
Result<ov::AnyMap> settings_of(const cl_load_options& options,
                               const std::vector<std::string>& capabilities);

}  // namespace corelane::engine::openvino
