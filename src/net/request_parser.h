#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/byte_buffer.h"
#include "net/http.h"

namespace corelane::net {

/// Why a request cannot be taken as HTTP. The connection has lost its place and ends with it.
struct ProtocolError {
  int status = 400;
  std::string message;
};

struct RequestHeadView {
  RequestView request;
  bool keep_alive = true;
  bool http_1_0 = false;
  bool expects_continue = false;
  bool chunked = false;
  std::uint64_t length = 0;  // of the body; unknown when chunked
};

struct HeadLimits {
  std::size_t max_headers = 128;
  std::uint64_t max_body = 0;
};

/// What has been read of a chunked body.
struct ChunkProgress {
  std::size_t used = 0;  // bytes of the input that are done with
  bool complete = false;
  std::optional<ProtocolError> error;
};

/// The length of a request's head with its closing empty line, nullopt when that is not there yet.
/// `searched`: bytes that an earlier call has seen without finding it.
std::optional<std::size_t> head_length(std::string_view bytes, std::size_t searched);

/// Reads HTTP/1 requests. Thread-compatible; one per connection, reuses its memory.
class RequestParser {
 public:
  RequestParser();
  ~RequestParser();

  /// Reads a whole head. The views live as long as `head` does and until the next call; they are
  /// null with error() set when the head breaks a rule.
  const RequestHeadView* parse_head(std::string_view head, const HeadLimits& limits);
  const ProtocolError& error() const;

  /// After a head with `chunked`: decodes what `bytes` holds and appends it to `body`.
  ChunkProgress parse_chunks(std::string_view bytes, ByteBuffer& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace corelane::net
