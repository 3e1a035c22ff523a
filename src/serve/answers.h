#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "net/http.h"

namespace corelane::serve {

/// Answers {"error": message} with the status of the error's code; 503 carries Retry-After, in
/// whole seconds, at least one. Returns the HTTP status.
int answer_error(net::Exchange& exchange, const Error& error, Nanos retry_after = {});

void answer_text(net::Exchange& exchange, int status, std::string_view content_type,
                 std::string_view body);

}  // namespace corelane::serve
