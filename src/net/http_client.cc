#include "net/http_client.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/byte_buffer.h"
#include "net/http.h"
#include "net/request_parser.h"

namespace corelane::net {
namespace {

constexpr std::size_t kReadAtLeast = 16 << 10;
constexpr std::size_t kKeepMemory = 1 << 20;

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool bodyless(int status) { return status == 204 || status == 304; }

class Client final : public HttpClient {
 public:
  explicit Client(HttpClientOptions options) : options_(std::move(options)) {}
  ~Client() override { disconnect(); }

  Status connect();
  Result<ClientResponseView> exchange(const PreparedRequest& request) override;
  Status send(std::span<const std::byte> bytes) override;
  Result<ClientResponseView> receive() override;
  Result<ClientResponseView> receive_head() override;
  std::size_t connections() const override { return connections_; }
  void finish_sending() override {
    if (socket_ >= 0) ::shutdown(socket_, SHUT_WR);
  }

 private:
  void disconnect() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  Error broken(Error error) {
    disconnect();
    return error;
  }
  std::string where() const { return options_.host + " port " + std::to_string(options_.port); }

  Result<std::size_t> more();
  Result<std::size_t> read_head();
  Status read_body(const ClientResponseView& response, std::size_t head);
  Status read_chunks(std::size_t at);
  Status need(std::size_t size);

  HttpClientOptions options_;
  int socket_ = -1;
  std::size_t connections_ = 0;
  bool fresh_ = false;  // nothing has been received on this connection yet
  ByteBuffer input_;
  std::size_t used_ = 0;  // bytes of input_ that the last response took
  std::vector<std::byte> unchunked_;
};

Status Client::connect() {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(options_.port);
  if (const int error = ::getaddrinfo(options_.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    return io_error("resolving " + options_.host + ": " + ::gai_strerror(error));
  }
  int failure = 0;
  for (const addrinfo* each = found; each != nullptr && socket_ < 0; each = each->ai_next) {
    const int socket = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.timeout);
    const auto micros =
        std::chrono::duration_cast<std::chrono::microseconds>(options_.timeout - seconds);
    const timeval timeout{.tv_sec = seconds.count(), .tv_usec = micros.count()};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket, each->ai_addr, each->ai_addrlen) == 0) {
      socket_ = socket;
    } else {
      failure = errno;
      ::close(socket);
    }
  }
  ::freeaddrinfo(found);
  if (socket_ < 0) return errno_error("connecting to " + where(), failure);
  fresh_ = true;
  ++connections_;
  input_.reset(kKeepMemory);
  used_ = 0;
  return {};
}

Result<ClientResponseView> Client::exchange(const PreparedRequest& request) {
  const bool reused = socket_ >= 0 && !fresh_;
  Status sent = send(request.bytes());
  auto response = sent ? receive() : Result<ClientResponseView>(sent.error());
  if (response || !reused || response.error().code != ErrorCode::kCancelled) return response;
  // The server closed the connection before it took the request: once more on a new one.
  sent = send(request.bytes());
  if (!sent) return sent.error();
  return receive();
}

Status Client::send(std::span<const std::byte> bytes) {
  if (socket_ < 0) {
    if (Status connected = connect(); !connected) return connected;
  }
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      const int error = errno;
      if (error == EAGAIN) {
        return broken({ErrorCode::kDeadlineExceeded, "sending to " + where() + ": timed out"});
      }
      // The answer may be there all the same (a refusal); receive() finds out.
      if (error == EPIPE || error == ECONNRESET) return {};
      return broken(errno_error("sending to " + where(), error));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

/// Bytes received; 0 at the end of the stream.
Result<std::size_t> Client::more() {
  const auto spare = input_.spare(kReadAtLeast);
  for (;;) {
    const ssize_t got = ::recv(socket_, spare.data(), spare.size(), 0);
    if (got >= 0) {
      input_.commit(static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) return std::size_t{0};
    if (errno == EAGAIN) {
      return Error{ErrorCode::kDeadlineExceeded, "waiting for " + where() + ": timed out"};
    }
    return errno_error("receiving from " + where(), errno);
  }
}

Status Client::need(std::size_t size) {
  while (input_.size() < size) {
    auto got = more();
    if (!got) return got.error();
    if (*got == 0) return io_error(where() + " closed the connection in the middle of an answer");
  }
  return {};
}

/// The length of the next head in the input.
Result<std::size_t> Client::read_head() {
  std::size_t searched = 0;
  for (;;) {
    if (const auto length = head_length(input_.text(), searched)) return *length;
    searched = input_.size();
    auto got = more();
    if (!got) return got.error();
    if (*got > 0) continue;
    if (input_.empty()) {
      return Error{ErrorCode::kCancelled, where() + " closed the connection without an answer"};
    }
    return io_error(where() + " closed the connection in the middle of an answer");
  }
}

Result<ClientResponseView> Client::receive_head() {
  if (socket_ < 0) return io_error("receiving from " + where() + ": not connected");
  input_.consume(std::exchange(used_, 0));
  auto length = read_head();
  if (!length) return broken(length.error());
  used_ = *length;
  const std::string_view text = input_.text().substr(0, used_);
  const auto status = text.size() > 12 ? parse_number(text.substr(9, 3), 10) : std::nullopt;
  if (!text.starts_with("HTTP/1.") || !status) {
    return broken(internal_error(where() + " does not answer in HTTP"));
  }
  return ClientResponseView{.status = static_cast<int>(*status), .head = text};
}

Result<ClientResponseView> Client::receive() {
  auto response = receive_head();
  while (response && response->status / 100 == 1) response = receive_head();
  if (!response) return response;
  const std::size_t head = used_;
  unchunked_.clear();
  if (Status body = read_body(*response, head); !body) return broken(body.error());
  fresh_ = false;
  response->head = input_.text().substr(0, head);
  response->body = response->header("Transfer-Encoding")
                       ? std::span<const std::byte>(unchunked_)
                       : input_.unread().subspan(head, used_ - head);
  if (const auto connection = response->header("Connection");
      connection && same_header_name(*connection, "close")) {
    ::close(std::exchange(socket_, -1));  // the views still point to what has come
  }
  return response;
}

Status Client::read_body(const ClientResponseView& response, std::size_t head) {
  if (bodyless(response.status)) return {};
  if (response.header("Transfer-Encoding")) return read_chunks(head);
  if (const auto header = response.header("Content-Length")) {
    const auto length = parse_number(*header, 10);
    if (!length)
      return internal_error(where() + " sent Content-Length '" + std::string(*header) + "'");
    used_ = head + static_cast<std::size_t>(*length);
    return need(used_);
  }
  for (;;) {
    auto got = more();
    if (!got) return got.error();
    if (*got == 0) break;
  }
  used_ = input_.size();
  return {};
}

Status Client::read_chunks(std::size_t at) {
  for (;;) {
    std::size_t end = 0;
    while ((end = input_.text().find("\r\n", at)) == std::string_view::npos) {
      if (Status come = need(input_.size() + 1); !come) return come;
    }
    const std::string_view line = input_.text().substr(at, end - at);
    const auto size = parse_number(line.substr(0, line.find_first_of("; ")), 16);
    if (!size) return internal_error(where() + " sent a malformed chunk");
    const std::size_t data = end + 2;
    if (Status come = need(data + *size + 2); !come) return come;
    const auto bytes = input_.unread().subspan(data, *size);
    unchunked_.insert(unchunked_.end(), bytes.begin(), bytes.end());
    at = data + *size + 2;
    if (*size == 0) break;  // trailers are not expected from what this client talks to
  }
  used_ = at;
  return {};
}

}  // namespace

PreparedRequest::PreparedRequest(std::string_view method, std::string_view target,
                                 std::span<const Header> headers, std::span<const std::byte> body) {
  std::string head(method);
  head.append(" ").append(target).append(" HTTP/1.1\r\nHost: corelane\r\n");
  for (const Header& header : headers) {
    head.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (!body.empty() || method == "POST") {
    head.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  head.append("\r\n");
  const auto bytes = std::as_bytes(std::span(head));
  bytes_.assign(bytes.begin(), bytes.end());
  bytes_.insert(bytes_.end(), body.begin(), body.end());
}

std::optional<std::string_view> ClientResponseView::header(std::string_view name) const {
  std::size_t at = head.find("\r\n");
  while (at != std::string_view::npos && at + 2 < head.size()) {
    const std::size_t next = head.find("\r\n", at + 2);
    const std::string_view line = head.substr(at + 2, next - at - 2);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && same_header_name(line.substr(0, colon), name)) {
      return trimmed(line.substr(colon + 1));
    }
    at = next;
  }
  return std::nullopt;
}

Result<std::unique_ptr<HttpClient>> HttpClient::connect(const HttpClientOptions& options) {
  auto client = std::make_unique<Client>(options);
  if (Status connected = client->connect(); !connected) return connected.error();
  return std::unique_ptr<HttpClient>(std::move(client));
}

}  // namespace corelane::net
