#pragma once

#include <cstdint>
#include <string_view>

#include "net/byte_buffer.h"
#include "net/http.h"

namespace corelane::net {

enum class AfterAnswer { kKeepAlive, kKeepAliveSaidAloud, kClose };

/// "Not Found" for 404; "Status" for one without a name.
std::string_view reason_of(int status);

/// Appends the status line and headers of an answer whose body has `length` bytes.
void append_head(ByteBuffer& out, const ResponseView& response, std::uint64_t length,
                 AfterAnswer after);

}  // namespace corelane::net
