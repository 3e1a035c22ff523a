#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "net/byte_buffer.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/http_server.h"
#include "net/outbox.h"
#include "net/request_parser.h"
#include "net/response_head.h"

namespace corelane::net {

class HttpConnection;

/// Told by its connections, on the loop's thread.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// The socket has been closed; called once.
  virtual void closed(HttpConnection& connection) = 0;
  /// Nothing refers to the connection any more; it may be destroyed after this callback.
  virtual void finished(HttpConnection& connection) = 0;
};

/// What all connections of a net thread share.
struct ConnectionSetting {
  const HttpServerOptions& options;
  Handler& handler;
  EventLoop& loop;
  ConnectionOwner& owner;
  std::size_t thread = 0;
};

/// One client's connection: reads one request at a time, has it served, sends the answer, goes on
/// with the next; so pipelined requests are answered in order. Lives until its socket is closed and
/// the handler owes it no answer. Confined to its loop's thread, except answer() and client_gone().
class HttpConnection final : public Watcher, public Answerable {
 public:
  /// Takes the non-blocking socket over.
  HttpConnection(const ConnectionSetting& setting, int socket);
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Begins to read. A socket that the loop cannot watch is closed.
  void open();
  /// Answers 503 without reading anything.
  void open_refused();
  void ready(const Readiness& readiness) override;
  void answer(const ResponseView& response) override;
  bool client_gone() const override { return gone_.load(std::memory_order_relaxed); }

  /// Ends the connection if its time is up.
  void check_deadline(Nanos now);
  /// From now on every answer is the connection's last.
  void close_after_answer() { last_ = true; }
  /// Between two requests: not even a part of the next one is here.
  bool idle() const { return state_ == State::kHead && input_.empty(); }
  /// Closes an idle connection unless a request has come in meanwhile.
  void close_if_idle();
  /// Closes the socket whatever is under way.
  void close_now();

 private:
  enum class State : std::uint8_t {
    kHead,       // between requests, or reading a head
    kBody,       // reading a body of known length
    kChunks,     // reading a chunked body
    kServing,    // the handler owes an answer
    kSending,    // the socket has not taken all of the answer
    kAnswered,   // it has
    kLingering,  // the last answer is out; what the client still sends is thrown away
    kClosed,
  };

  void read();
  bool receive(ByteBuffer& into, std::size_t room);
  bool receive_body();
  std::span<std::byte> body_room();
  bool failed_for_good(std::ptrdiff_t received);
  void discard();

  void advance();
  bool advance_head();
  void take_head(std::string_view bytes);
  void begin_body();
  void begin_chunks();
  bool advance_chunks();
  bool place_body(std::uint64_t length);
  void refuse_placed(const Refusal& refusal, std::uint64_t length);
  void drop_place();
  void send_continue();
  void serve();

  void answer_here(const ResponseView& response);
  void send_answer(const ResponseView& response);
  void refuse(int status, std::string_view message);
  void settle();
  void linger_or_close();
  void deliver_carried();
  void want(const Readiness& wanted);
  Nanos deadline_after(std::uint64_t transferred) const;

  const ConnectionSetting& setting_;
  int socket_;
  State state_ = State::kHead;
  Nanos deadline_;
  Readiness wanted_{.readable = true};
  bool advancing_ = false;
  bool in_serve_ = false;
  bool end_of_stream_ = false;
  bool last_ = false;         // no request is read after this one
  bool out_of_step_ = false;  // what follows in the input is not the beginning of a request
  std::atomic<bool> gone_ = false;

  // The request that is being read. While its head is of use, input_ is not moved.
  ByteBuffer input_;
  std::size_t searched_ = 0;  // bytes of input_ known to hold no head's end
  RequestParser parser_;
  const RequestHeadView* head_ = nullptr;
  std::size_t head_size_ = 0;    // its bytes at the front of input_
  std::size_t inline_body_ = 0;  // bytes of the body behind it in input_
  BodyPlace place_;
  Nanos body_began_{};
  std::uint64_t body_filled_ = 0;
  ByteBuffer kept_;    // the body, when the server holds it and it is not all in input_
  ByteBuffer chunks_;  // a chunked body's bytes as they came, then what follows them

  // Its answer.
  bool answer_owed_ = false;
  bool head_only_ = false;
  AfterAnswer polite_ = AfterAnswer::kKeepAlive;
  Outbox outbox_;

  /// An answer on its way from another thread: written there, read here after a post.
  struct Carried {
    int status = 200;
    std::string content_type;
    std::vector<std::string> headers;  // names and values in turn
    std::vector<std::byte> body;
  };
  Carried carried_;
};

}  // namespace corelane::net
