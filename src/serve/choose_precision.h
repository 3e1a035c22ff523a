#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::serve {

/// Which of a version's precisions is served. `wish` is a precision's name or "auto": the one that
/// costs least (int8, then bf16, then f32) among those whose measured accuracy is at most
/// `max_drop` below its reference; what was not measured is only taken at f32, or where there is
/// nothing else. kNotFound names what there is.
Result<std::string> choose_precision(const model::Manifest& manifest, std::string_view wish,
                                     double max_drop);

}  // namespace corelane::serve
