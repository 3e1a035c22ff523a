// The half of HttpConnection that reads from and answers to its socket.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "net/http.h"
#include "net/http_connection.h"
#include "net/response_head.h"
#include "wire/v2_response.h"

namespace corelane::net {
namespace {

constexpr std::size_t kReadAtLeast = 4 << 10;
constexpr std::size_t kFirstRead = 16 << 10;
constexpr std::size_t kMaxWaiting = 256 << 10;  // input that may wait behind a request
constexpr std::size_t kReadsInARow = 16;        // so that one large body does not starve the others
constexpr Nanos kLinger = std::chrono::seconds(2);

}  // namespace

void HttpConnection::read() {
  switch (state_) {
    case State::kHead:
      if (receive(input_, input_.empty() ? kFirstRead : kReadAtLeast)) advance();
      break;
    case State::kBody:
      if (receive_body()) advance();
      break;
    case State::kChunks:
      if (receive(chunks_, kFirstRead)) advance();
      break;
    case State::kServing:
    case State::kSending:
    case State::kAnswered:
      if (input_.size() < kMaxWaiting) {
        receive(input_, kReadAtLeast);
      } else {
        want({.writable = wanted_.writable});
      }
      break;
    case State::kLingering:
      discard();
      break;
    case State::kClosed:
      break;
  }
}

/// False when nothing came.
bool HttpConnection::receive(ByteBuffer& into, std::size_t room) {
  const auto spare = into.spare(room);
  const ssize_t got = ::recv(socket_, spare.data(), spare.size(), 0);
  if (got <= 0) {
    failed_for_good(got);
    return false;
  }
  into.commit(static_cast<std::size_t>(got));
  return true;
}

/// True once the body is whole.
bool HttpConnection::receive_body() {
  for (std::size_t i = 0; i < kReadsInARow; ++i) {
    const auto room = body_room();
    const ssize_t got = ::recv(socket_, room.data(), room.size(), 0);
    if (got <= 0) {
      failed_for_good(got);
      return false;
    }
    if (place_.memory.empty()) kept_.commit(static_cast<std::size_t>(got));
    body_filled_ += static_cast<std::uint64_t>(got);
    if (body_filled_ == head_->length) return true;
  }
  deadline_ = body_began_ + deadline_after(body_filled_);
  return false;
}

/// Where the body goes on. What the server holds itself grows with what has come, not with what the
/// client says will come.
std::span<std::byte> HttpConnection::body_room() {
  const std::uint64_t missing = head_->length - body_filled_;
  if (!place_.memory.empty()) {
    return place_.memory.subspan(static_cast<std::size_t>(body_filled_),
                                 static_cast<std::size_t>(missing));
  }
  const std::uint64_t doubled = std::max<std::uint64_t>(kept_.size(), 64 << 10);
  const auto size = static_cast<std::size_t>(std::min(missing, doubled));
  return kept_.spare(size).first(size);
}

/// Acts on a recv() that brought nothing; false when there is just nothing yet.
bool HttpConnection::failed_for_good(std::ptrdiff_t received) {
  const int error = errno;
  if (received < 0 && (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)) {
    if (state_ == State::kBody) deadline_ = body_began_ + deadline_after(body_filled_);
    return false;
  }
  end_of_stream_ = true;
  const bool answering = state_ == State::kServing || state_ == State::kSending;
  if (answering && received == 0) {
    // The client may only have closed its sending side: it still gets what it asked for.
    gone_.store(true, std::memory_order_relaxed);
    want({.writable = wanted_.writable});
  } else {
    close_now();
  }
  return true;
}

void HttpConnection::discard() {
  std::array<std::byte, 16 << 10> waste;
  const ssize_t got = ::recv(socket_, waste.data(), waste.size(), 0);
  if (got <= 0) failed_for_good(got);
}

void HttpConnection::answer(const ResponseView& response) {
  if (setting_.loop.in_thread()) return answer_here(response);
  carried_.status = response.status;
  carried_.content_type = response.content_type;
  carried_.headers.clear();
  for (const HeaderView& header : response.headers) {
    carried_.headers.emplace_back(header.name);
    carried_.headers.emplace_back(header.value);
  }
  carried_.body.clear();
  for (const auto& piece : response.body) {
    carried_.body.insert(carried_.body.end(), piece.begin(), piece.end());
  }
  setting_.loop.post([this] { deliver_carried(); });
}

void HttpConnection::deliver_carried() {
  std::vector<HeaderView> headers;
  for (std::size_t i = 0; i + 1 < carried_.headers.size(); i += 2) {
    headers.push_back({.name = carried_.headers[i], .value = carried_.headers[i + 1]});
  }
  const std::span<const std::byte> body = carried_.body;
  answer_here({.status = carried_.status,
               .content_type = carried_.content_type,
               .headers = headers,
               .body = {&body, 1}});
}

void HttpConnection::answer_here(const ResponseView& response) {
  check(answer_owed_, "a request is answered once");
  answer_owed_ = false;
  if (state_ == State::kClosed) return setting_.owner.finished(*this);
  send_answer(response);
}

void HttpConnection::send_answer(const ResponseView& response) {
  std::uint64_t length = 0;
  for (const auto& piece : response.body) length += piece.size();
  append_head(outbox_.head(), response, length, last_ ? AfterAnswer::kClose : polite_);
  const auto body = head_only_ ? decltype(response.body){} : response.body;
  switch (outbox_.send(socket_, body)) {
    case Outbox::Sent::kAll:
      state_ = State::kAnswered;
      if (!in_serve_) settle();
      break;
    case Outbox::Sent::kPart:
      state_ = State::kSending;
      deadline_ = setting_.loop.now() + deadline_after(outbox_.waiting());
      want({.readable = wanted_.readable, .writable = true});
      break;
    case Outbox::Sent::kFailed:
      close_now();
      break;
  }
}

/// Answers a request that cannot be read to its end; the connection ends with it.
void HttpConnection::refuse(int status, std::string_view message) {
  drop_place();
  last_ = out_of_step_ = true;
  head_only_ = false;
  const std::string body = wire::error_body(message);
  const std::span<const std::byte> piece = std::as_bytes(std::span(body));
  send_answer({.status = status, .body = {&piece, 1}});
}

/// The answer is with the kernel: on to the next request, or the end.
void HttpConnection::settle() {
  if (last_ || (end_of_stream_ && input_.empty())) return linger_or_close();
  state_ = State::kHead;
  deadline_ = setting_.loop.now() + setting_.options.idle_timeout;
  want({.readable = !end_of_stream_});
  if (!input_.empty() && !advancing_) setting_.loop.defer([this] { advance(); });
}

/// Closing with input unread would reset the connection, and the client might never see the answer.
void HttpConnection::linger_or_close() {
  if (end_of_stream_ || (!out_of_step_ && input_.empty())) return close_now();
  ::shutdown(socket_, SHUT_WR);
  input_.reset(0);
  state_ = State::kLingering;
  deadline_ = setting_.loop.now() + kLinger;
  want({.readable = true});
}

}  // namespace corelane::net
