// The HTTP head and chunk parser: whatever the bytes, it neither reads beyond them nor takes more
// than it was given.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/byte_buffer.h"
#include "net/http.h"
#include "net/request_parser.h"

using corelane::net::ByteBuffer;
using corelane::net::ChunkProgress;
using corelane::net::HeaderView;
using corelane::net::RequestHeadView;
using corelane::net::RequestParser;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto head_size = corelane::net::head_length(bytes, 0);
  if (!head_size) return 0;
  corelane::check(*head_size <= size, "a head is within its bytes");
  RequestParser parser;
  const RequestHeadView* head =
      parser.parse_head(bytes.substr(0, *head_size), {.max_headers = 16, .max_body = 1 << 20});
  if (head == nullptr) {
    corelane::check(parser.error().status >= 400 && !parser.error().message.empty(),
                    "a refusal says why");
    return 0;
  }
  corelane::check(head->request.headers.size() <= 16 && head->length <= 1 << 20, "limits hold");
  for (const HeaderView& header : head->request.headers) {
    const auto inside = [&](std::string_view view) {
      return view.empty() ||
             (view.data() >= bytes.data() && view.data() + view.size() <= bytes.data() + size);
    };
    corelane::check(inside(header.name) && inside(header.value), "views point into the head");
  }
  if (!head->chunked) return 0;
  ByteBuffer body;
  const ChunkProgress progress = parser.parse_chunks(bytes.substr(*head_size), body);
  corelane::check(progress.used <= size - *head_size, "no more is used than there is");
  corelane::check(body.size() <= 1 << 20, "the body's limit holds");
  return 0;
}
