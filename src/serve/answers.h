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

/// 405; `allowed` is the method that the path has.
void answer_wrong_method(net::Exchange& exchange, std::string_view allowed);

void answer_json(net::Exchange& exchange, std::string_view body);

void answer_text(net::Exchange& exchange, int status, std::string_view content_type,
                 std::string_view body);

}  // namespace corelane::serve
