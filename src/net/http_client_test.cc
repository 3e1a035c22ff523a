#include "net/http_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "net/listener.h"

namespace corelane::net {
namespace {

/// A server of one thread that reads a request's head on each connection, says its next line and,
/// after the last line of a connection, closes it.
class ScriptedServer {
 public:
  using Connection = std::vector<std::string>;

  explicit ScriptedServer(std::vector<Connection> script)
      : listener_(*Listener::open("127.0.0.1", 0)), thread_([this, script = std::move(script)] {
          for (const Connection& lines : script) serve(lines);
        }) {}

  std::uint16_t port() const { return listener_.port(); }

 private:
  void serve(const Connection& lines) const {
    pollfd waiting{.fd = listener_.fd(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, -1);
    const int socket = listener_.accept();
    std::string input;
    for (const std::string& line : lines) {
      while (input.find("\r\n\r\n") == std::string::npos) {
        pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
        ::poll(&readable, 1, -1);
        char buffer[4096];
        const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
        if (got <= 0) break;
        input.append(buffer, static_cast<std::size_t>(got));
      }
      input.erase(0, input.find("\r\n\r\n") + 4);
      ::send(socket, line.data(), line.size(), MSG_NOSIGNAL);
    }
    ::close(socket);
  }

  Listener listener_;
  std::jthread thread_;
};

const PreparedRequest kGet("GET", "/", {}, {});

std::string text_of(const Result<ClientResponseView>& response) {
  if (!response) return response.error().message;
  return std::to_string(response->status) + " " +
         std::string(reinterpret_cast<const char*>(response->body.data()), response->body.size());
}

std::unique_ptr<HttpClient> connect(const ScriptedServer& server,
                                    Nanos timeout = std::chrono::seconds(20)) {
  return *HttpClient::connect({.port = server.port(), .timeout = timeout});
}

std::string ask(const std::string& answer) {
  const ScriptedServer server({{answer}});
  return text_of(connect(server)->exchange(kGet));
}

TEST(HttpClient, ReadsEveryKindOfBody) {
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), "200 hello");
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\ncontent-length:5 \r\n\r\nhello"), "200 hello");
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5\r\nhello\r\n6;x=1\r\n world\r\n0\r\n\r\n"),
            "200 hello world");
  EXPECT_EQ(ask("HTTP/1.0 200 OK\r\n\r\nuntil the end"), "200 until the end");
  EXPECT_EQ(ask("HTTP/1.1 204 No Content\r\n\r\n"), "204 ");
  EXPECT_EQ(
      ask("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx"),
      "404 x");
}

TEST(HttpClient, SaysWhatIsWrongWithAnAnswer) {
  const auto ends = [](const std::string& answer, std::string_view end) {
    const std::string text = ask(answer);
    EXPECT_TRUE(text.ends_with(end)) << text;
  };
  ends("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
       "closed the connection in the middle of an answer");
  ends("HTTP/1.1 200 OK\r\nConte", "closed the connection in the middle of an answer");
  ends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
       "closed the connection in the middle of an answer");
  ends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "sent a malformed chunk");
  ends("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "sent Content-Length 'many'");
  ends("SSH-2.0-OpenSSH_9\r\n\r\n", "does not answer in HTTP");
  ends("", "closed the connection without an answer");
}

TEST(HttpClient, ConnectsAgainWhenTheServerHasClosedBetweenRequests) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  const ScriptedServer server({{answer + "a", answer + "b"}, {answer + "c"}});
  const auto client = connect(server);
  EXPECT_EQ(text_of(client->exchange(kGet)), "200 a");
  EXPECT_EQ(text_of(client->exchange(kGet)), "200 b");
  EXPECT_EQ(client->connections(), 1U);
  EXPECT_EQ(text_of(client->exchange(kGet)), "200 c");
  EXPECT_EQ(client->connections(), 2U);
}

TEST(HttpClient, ConnectsAgainAfterConnectionClose) {
  const std::string close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n";
  const ScriptedServer server({{close + "a"}, {close + "b"}});
  const auto client = connect(server);
  EXPECT_EQ(text_of(client->exchange(kGet)), "200 a");
  EXPECT_EQ(text_of(client->exchange(kGet)), "200 b");
}

TEST(HttpClient, GivesUpOnAServerThatDoesNotAnswer) {
  const auto silent = *Listener::open("127.0.0.1", 0);
  const auto client =
      *HttpClient::connect({.port = silent.port(), .timeout = std::chrono::milliseconds(20)});
  const auto response = client->exchange(kGet);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(HttpClient, SaysThatNobodyListens) {
  std::uint16_t port = 0;
  {
    const auto gone = *Listener::open("127.0.0.1", 0);
    port = gone.port();
  }
  const auto client = HttpClient::connect({.port = port});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message,
            "connecting to 127.0.0.1 port " + std::to_string(port) + ": Connection refused");
}

}  // namespace
}  // namespace corelane::net
