#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace corelane::net {

struct HttpClientOptions {
  std::string host = "127.0.0.1";  // numeric, or a name
  std::uint16_t port = 0;
  Nanos timeout = std::chrono::seconds(60);  // of each wait for the other side
};

/// A request whose bytes are ready to be sent again and again.
class PreparedRequest {
 public:
  struct Header {
    std::string name;
    std::string value;
  };
  /// Host, Content-Length and the like are added.
  PreparedRequest(std::string_view method, std::string_view target, std::span<const Header> headers,
                  std::span<const std::byte> body);
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Valid until the client's next call.
struct ClientResponseView {
  int status = 0;
  std::string_view head = {};  // status line and headers
  std::span<const std::byte> body = {};

  /// The value of the first header of that name (any case).
  std::optional<std::string_view> header(std::string_view name) const;
};

/// A blocking keep-alive client with one connection, for load and for tests. Thread-compatible. It
/// reconnects by itself when the server has closed the connection between two requests.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// Sends and waits for the answer. kIo with errno's text, kDeadlineExceeded on a timeout,
  /// kCancelled when the server closed the connection without a byte of an answer, kInternal for an
  /// answer that is not HTTP. After an error the next call connects anew.
  virtual Result<ClientResponseView> exchange(const PreparedRequest& request) = 0;
  /// The same in two steps, for pipelining and for clients that send badly.
  virtual Status send(std::span<const std::byte> bytes) = 0;
  virtual Result<ClientResponseView> receive() = 0;
  /// Receives an answer that has no body whatever it says: to HEAD, or a 1xx, which receive()
  /// passes over.
  virtual Result<ClientResponseView> receive_head() = 0;
  /// Connections made so far.
  virtual std::size_t connections() const = 0;
  /// Closes the sending side only.
  virtual void finish_sending() = 0;

  static Result<std::unique_ptr<HttpClient>> connect(const HttpClientOptions& options);
};

}  // namespace corelane::net
