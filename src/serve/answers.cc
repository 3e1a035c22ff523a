#include "serve/answers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "net/http.h"
#include "wire/http_status.h"
#include "wire/v2_response.h"

namespace corelane::serve {

int answer_error(net::Exchange& exchange, const Error& error, Nanos retry_after) {
  const int status = wire::http_status(error.code);
  const std::string body = wire::error_body(error.message);
  const std::span<const std::byte> piece = std::as_bytes(std::span(body));
  const auto seconds =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(retry_after).count());
  const std::string after = std::to_string(seconds);
  const std::array<net::HeaderView, 1> headers{
      net::HeaderView{.name = "Retry-After", .value = after}};
  net::ResponseView response{.status = status, .headers = {}, .body = {&piece, 1}};
  if (status == 503) response.headers = headers;
  exchange.answer(response);
  return status;
}

void answer_wrong_method(net::Exchange& exchange, std::string_view allowed) {
  const std::string body = wire::error_body("Method Not Allowed");
  const std::span<const std::byte> piece = std::as_bytes(std::span(body));
  const net::HeaderView allow{.name = "Allow", .value = allowed};
  exchange.answer({.status = 405, .headers = {&allow, 1}, .body = {&piece, 1}});
}

void answer_json(net::Exchange& exchange, std::string_view body) {
  answer_text(exchange, 200, "application/json", body);
}

void answer_text(net::Exchange& exchange, int status, std::string_view content_type,
                 std::string_view body) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(body));
  exchange.answer({.status = status,
                   .content_type = content_type,
                   .headers = {},
                   .body = {&piece, body.empty() ? 0U : 1U}});
}

}  // namespace corelane::serve
