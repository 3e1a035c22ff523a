#include "net/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/units.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/outbox.h"
#include "net/request_parser.h"
#include "net/response_head.h"
#include "wire/v2_response.h"

namespace corelane::net {
namespace {

constexpr std::size_t kKeepMemory = 256 << 10;
constexpr std::size_t kMaxChunkHead = 64 << 10;

}  // namespace

HttpConnection::HttpConnection(const ConnectionSetting& setting, int socket)
    : setting_(setting),
      socket_(socket),
      deadline_(setting.loop.now() + setting.options.idle_timeout) {}

HttpConnection::~HttpConnection() {
  check(state_ == State::kClosed && !answer_owed_, "a connection ends closed and answered");
}

void HttpConnection::open() {
  if (!setting_.loop.watch(socket_, *this)) close_now();
}

void HttpConnection::open_refused() {
  open();
  if (state_ == State::kClosed) return;
  refuse(503, "too many connections: " + std::to_string(setting_.options.max_connections) +
                  " are open, which is the limit");
}

void HttpConnection::ready(const Readiness& readiness) {
  if (state_ == State::kSending && readiness.writable) {
    const Outbox::Sent sent = outbox_.flush(socket_);
    if (sent == Outbox::Sent::kFailed) close_now();
    if (sent == Outbox::Sent::kAll) settle();
  } else if (readiness.readable) {
    read();
  } else if (readiness.closed) {
    close_now();
  }
}

void HttpConnection::want(const Readiness& wanted) {
  if (wanted.readable == wanted_.readable && wanted.writable == wanted_.writable) return;
  wanted_ = wanted;
  setting_.loop.want(socket_, *this, wanted);
}

Nanos HttpConnection::deadline_after(std::uint64_t transferred) const {
  const auto rate = std::max<std::uint64_t>(setting_.options.slowest_rate.count, 1);
  return setting_.options.transfer_timeout +
         from_seconds(static_cast<double>(transferred) / static_cast<double>(rate));
}

/// Takes requests from the input for as long as they are whole and answered at once.
void HttpConnection::advance() {
  if (advancing_) return;
  advancing_ = true;
  bool more = true;
  while (more) {
    switch (state_) {
      case State::kHead:
        more = advance_head();
        break;
      case State::kBody:
        more = body_filled_ == head_->length;
        if (more) serve();
        break;
      case State::kChunks:
        more = advance_chunks();
        break;
      default:
        more = false;
    }
  }
  advancing_ = false;
}

bool HttpConnection::advance_head() {
  while (input_.text().starts_with("\r\n")) input_.consume(2);  // some clients end bodies with it
  const std::string_view bytes = input_.text();
  const std::uint64_t limit = setting_.options.max_head.count;
  const auto size = head_length(bytes, searched_);
  if (size && *size <= limit) {
    searched_ = 0;
    head_size_ = *size;
    take_head(bytes.substr(0, head_size_));
    return true;
  }
  if (size || bytes.size() >= limit) {
    refuse(431,
           "the request's head is larger than the " + std::to_string(limit) + " bytes allowed");
    return false;
  }
  if (end_of_stream_) {
    close_now();
    return false;
  }
  if (searched_ == 0 && !bytes.empty()) {
    deadline_ = setting_.loop.now() + setting_.options.head_timeout;
  }
  searched_ = bytes.size();
  return false;
}

void HttpConnection::take_head(std::string_view bytes) {
  head_ = parser_.parse_head(bytes, {.max_headers = setting_.options.max_headers,
                                     .max_body = setting_.options.max_body.count});
  if (head_ == nullptr) return refuse(parser_.error().status, parser_.error().message);
  head_only_ = head_->request.method == "HEAD";
  polite_ = head_->http_1_0 ? AfterAnswer::kKeepAliveSaidAloud : AfterAnswer::kKeepAlive;
  if (!head_->keep_alive) last_ = true;
  body_filled_ = 0;
  inline_body_ = 0;
  kept_.reset(kKeepMemory);
  if (head_->chunked) {
    begin_chunks();
  } else {
    begin_body();
  }
}

void HttpConnection::begin_body() {
  const std::uint64_t length = head_->length;
  if (!place_body(length)) return;
  const auto here = input_.unread().subspan(head_size_);
  inline_body_ = static_cast<std::size_t>(std::min<std::uint64_t>(here.size(), length));
  if (!place_.memory.empty() && inline_body_ > 0) {
    std::memcpy(place_.memory.data(), here.data(), inline_body_);
  } else if (inline_body_ < length) {
    kept_.append(here.first(inline_body_));
  }
  body_filled_ = inline_body_;
  state_ = State::kBody;
  if (inline_body_ == length) return;
  body_began_ = setting_.loop.now();
  deadline_ = body_began_ + deadline_after(0);
  if (head_->expects_continue) send_continue();
}

void HttpConnection::begin_chunks() {
  chunks_.reset(kKeepMemory);
  chunks_.append(input_.unread().subspan(head_size_));
  input_.truncate(head_size_);
  state_ = State::kChunks;
  body_began_ = setting_.loop.now();
  deadline_ = body_began_ + deadline_after(0);
  if (head_->expects_continue) send_continue();
}

bool HttpConnection::advance_chunks() {
  const ChunkProgress progress = parser_.parse_chunks(chunks_.text(), kept_);
  chunks_.consume(progress.used);
  deadline_ = body_began_ + deadline_after(kept_.size());
  if (progress.error) {
    refuse(progress.error->status, progress.error->message);
    return false;
  }
  if (!progress.complete) {
    if (chunks_.size() > kMaxChunkHead) refuse(400, "malformed chunk in the request's body");
    return false;
  }
  const std::uint64_t length = kept_.size();
  if (!place_body(length)) return true;
  if (!place_.memory.empty() && length > 0) {
    std::memcpy(place_.memory.data(), kept_.unread().data(), kept_.size());
  }
  body_filled_ = length;
  serve();
  return true;
}

/// Asks the handler. False when it has refused, which is answered then.
bool HttpConnection::place_body(std::uint64_t length) {
  RequestView request = head_->request;
  request.thread = setting_.thread;
  Placement placement = setting_.handler.place(request, length);
  if (const auto* refusal = std::get_if<Refusal>(&placement)) {
    refuse_placed(*refusal, length);
    return false;
  }
  place_ = std::get<BodyPlace>(placement);
  check(place_.memory.empty() || place_.memory.size() >= length, "a body fits its place");
  return true;
}

void HttpConnection::refuse_placed(const Refusal& refusal, std::uint64_t length) {
  std::size_t used = head_size_;
  if (!head_->chunked) {
    const bool here = input_.size() - head_size_ >= length;
    if (!here) last_ = out_of_step_ = true;  // its body is not worth reading
    used += here ? static_cast<std::size_t>(length) : 0;
  }
  input_.consume(used);
  input_.append(chunks_.unread());
  chunks_.reset(kKeepMemory);
  const std::string body = wire::error_body(refusal.message);
  const std::span<const std::byte> piece = std::as_bytes(std::span(body));
  const HeaderView retry{.name = "Retry-After", .value = refusal.retry_after};
  send_answer({.status = refusal.status,
               .headers = {&retry, refusal.retry_after.empty() ? 0U : 1U},
               .body = {&piece, 1}});
}

void HttpConnection::drop_place() {
  if (RequestContext* context = std::exchange(place_, {}).context; context != nullptr) {
    setting_.handler.drop(context);
  }
}

void HttpConnection::send_continue() {
  outbox_.head().append("HTTP/1.1 100 Continue\r\n\r\n");
  if (outbox_.flush(socket_) == Outbox::Sent::kFailed) close_now();
}

void HttpConnection::serve() {
  RequestView request = head_->request;
  request.thread = setting_.thread;
  const auto length = static_cast<std::size_t>(body_filled_);
  if (!place_.memory.empty()) {
    request.body = place_.memory.first(length);
  } else if (inline_body_ == length && !head_->chunked) {
    request.body = input_.unread().subspan(head_size_, length);
  } else {
    request.body = kept_.unread();
  }
  state_ = State::kServing;
  deadline_ = Nanos::max();
  answer_owed_ = true;
  in_serve_ = true;
  setting_.handler.serve(request, std::exchange(place_, {}).context, Exchange(*this));
  in_serve_ = false;
  input_.consume(head_size_ + inline_body_);
  if (!chunks_.empty()) input_.append(chunks_.unread());
  chunks_.reset(kKeepMemory);
  if (state_ == State::kAnswered) settle();
}

void HttpConnection::check_deadline(Nanos now) {
  if (now < deadline_ || state_ == State::kClosed) return;
  const bool reading = state_ == State::kBody || state_ == State::kChunks ||
                       (state_ == State::kHead && !input_.empty());
  if (reading) {
    refuse(408, "the request did not come in time");
  } else {
    close_now();
  }
}

void HttpConnection::close_if_idle() {
  if (idle()) read();
  if (idle()) close_now();
}

void HttpConnection::close_now() {
  if (state_ == State::kClosed) return;
  drop_place();
  gone_.store(true, std::memory_order_relaxed);
  setting_.loop.unwatch(socket_, *this);
  ::close(socket_);
  state_ = State::kClosed;
  setting_.owner.closed(*this);
  if (!answer_owed_) setting_.owner.finished(*this);
}

}  // namespace corelane::net
