#include "net/response_head.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "net/byte_buffer.h"
#include "net/http.h"

namespace corelane::net {
namespace {

void append_number(ByteBuffer& out, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void append_header(ByteBuffer& out, std::string_view name, std::string_view value) {
  out.append(name);
  out.append(": ");
  out.append(value);
  out.append("\r\n");
}

}  // namespace

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

void append_head(ByteBuffer& out, const ResponseView& response, std::uint64_t length,
                 AfterAnswer after) {
  if (response.status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
  } else {
    out.append("HTTP/1.1 ");
    append_number(out, static_cast<std::uint64_t>(response.status));
    out.append(" ");
    out.append(reason_of(response.status));
    out.append("\r\n");
  }
  if (!response.content_type.empty()) append_header(out, "Content-Type", response.content_type);
  for (const HeaderView& header : response.headers) append_header(out, header.name, header.value);
  if (after == AfterAnswer::kClose) out.append("Connection: close\r\n");
  if (after == AfterAnswer::kKeepAliveSaidAloud) out.append("Connection: keep-alive\r\n");
  out.append("Content-Length: ");
  append_number(out, length);
  out.append("\r\n\r\n");
}

}  // namespace corelane::net
