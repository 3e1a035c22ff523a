#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace corelane::net {

struct HeaderView {
  std::string_view name;
  std::string_view value;
};

/// Header names are compared without regard to case.
bool same_header_name(std::string_view a, std::string_view b);

/// A request as it lies in the connection's memory.
struct RequestView {
  std::string_view method;  // "POST"
  std::string_view path;    // "/v2/models/m/infer", as sent, not percent-decoded
  std::string_view query;   // what follows the first '?'; empty when there is none
  std::span<const HeaderView> headers;
  /// Empty until Handler::serve. At least kBodyPadding bytes behind it may be read when the server
  /// holds the body; behind a BodyPlace's memory lies what its owner put there.
  std::span<const std::byte> body;
  std::size_t thread = 0;  // index of the net thread that the connection lives on

  /// The value of the first header of that name (any case); nullopt when there is none.
  std::optional<std::string_view> header(std::string_view name) const;
};

inline constexpr std::size_t kBodyPadding = 64;

/// An answer. Borrowed for the call of Exchange::answer, body pieces included: what the socket does
/// not take at once is copied.
struct ResponseView {
  int status = 200;
  std::string_view content_type = "application/json";     // left out when empty
  std::span<const HeaderView> headers = {};               // more of them
  std::span<const std::span<const std::byte>> body = {};  // sent one after the other
};

/// What stands behind an Exchange: a connection, or in a handler's test a fake.
class Answerable {
 public:
  virtual ~Answerable() = default;
  virtual void answer(const ResponseView& response) = 0;
  virtual bool client_gone() const = 0;
};

/// The duty to answer one request: exactly once, from any thread. From the request's own net thread
/// the answer goes to the socket at once, from others through a post. Move-only; destroyed without
/// an answer it answers 500.
class Exchange {
 public:
  Exchange() = default;
  explicit Exchange(Answerable& to) : to_(&to) {}
  Exchange(Exchange&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  Exchange& operator=(Exchange&& other) noexcept;
  ~Exchange();

  /// Precondition: not answered yet. Never calls the handler from inside. A client that has gone
  /// gets nothing; that is no error.
  void answer(const ResponseView& response);
  /// The client has closed its side: computing for it is a waste. Thread-safe.
  bool client_gone() const;
  bool answered() const { return to_ == nullptr; }

 private:
  Answerable* to_ = nullptr;
};

/// A handler's own record of a request between place() and serve(). The server only carries it.
class RequestContext {
 protected:
  ~RequestContext() = default;
};

/// Where a request's body goes.
struct BodyPlace {
  /// At least the body's length, written from its start; so aligned as its owner chose. Empty: the
  /// server holds the body itself, for the length of serve().
  std::span<std::byte> memory = {};
  RequestContext* context = nullptr;  // handed back by serve() or drop(), whichever comes
};

/// The request is answered before its body is read: {"error": message}.
struct Refusal {
  int status = 400;
  std::string message = {};
  std::string retry_after = {};  // seconds; the header is left out when empty
};

using Placement = std::variant<BodyPlace, Refusal>;

/// Serves requests. All calls come on the net thread of the request's connection, never from inside
/// another call of the same thread; different threads call at once. None may block. Views are valid
/// for the call.
class Handler {
 public:
  virtual ~Handler() = default;
  /// The headers are here and the body's length is known (0: no body; `chunked` bodies have been
  /// read by the server already). Says where the body goes, or refuses.
  virtual Placement place(const RequestView& head, std::uint64_t length) = 0;
  /// The body will not come: the client has gone or was too slow. The place is free again.
  virtual void drop(RequestContext* context) = 0;
  /// The request is whole. It must be answered through `exchange`, now or later.
  virtual void serve(const RequestView& request, RequestContext* context, Exchange exchange) = 0;
};

}  // namespace corelane::net
