#include "net/http_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/testing/manual_clock.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/testing/echo_handler.h"

namespace corelane::net {
namespace {

using testing::EchoHandler;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

PreparedRequest post(std::string_view path, std::string_view body) {
  return PreparedRequest("POST", path, {}, bytes_of(body));
}

/// A server with an EchoHandler on two net threads, and clients of it.
class Http : public ::testing::Test {
 protected:
  void start(HttpServerOptions options = {}) {
    threads_ = *NetThreads::start(2, clock_);
    auto server = HttpServer::start(options, handler_, *threads_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }

  std::unique_ptr<HttpClient> client() {
    auto client =
        HttpClient::connect({.port = server_->port(), .timeout = std::chrono::seconds(20)});
    EXPECT_TRUE(client) << client.error().message;
    return *std::move(client);
  }

  /// Sends the text as it is and gives the answer's status and body: "200 body", or the error.
  std::string say(HttpClient& client, std::string_view text) {
    if (const Status sent = client.send(bytes_of(text)); !sent) return sent.error().message;
    return hear(client);
  }
  std::string hear(HttpClient& client) {
    const auto response = client.receive();
    if (!response) return response.error().message;
    return std::to_string(response->status) + " " + text_of(response->body);
  }

  /// Makes every net thread look at the clock.
  void wake() {
    for (EventLoop* loop : threads_->loops()) loop->post([] {});
  }

  ManualClock clock_;
  EchoHandler handler_;
  std::unique_ptr<NetThreads> threads_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(Http, EchoesABody) {
  start();
  const auto client = this->client();
  const auto response = client->exchange(post("/echo", "hello"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(text_of(response->body), "hello");
  EXPECT_EQ(response->header("content-type"), "application/octet-stream");
  EXPECT_EQ(response->header("X-Path"), "/echo");
}

TEST_F(Http, KeepsAConnectionForThousandsOfRequests) {
  start();
  const auto client = this->client();
  for (int i = 0; i < 5000; ++i) {
    const std::string body = std::to_string(i);
    const auto response = client->exchange(post(i % 2 == 0 ? "/echo" : "/later", body));
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(text_of(response->body), body);
  }
  EXPECT_EQ(client->connections(), 1U);
}

TEST_F(Http, AnswersFromAnotherThread) {
  start();
  const auto client = this->client();
  const std::string large(3 << 20, 'x');
  const auto response = client->exchange(post("/later", large));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(text_of(response->body), large);
}

TEST_F(Http, PutsABodyWhereTheHandlerWants) {
  start();
  const auto client = this->client();
  for (const std::size_t size : {1UL, 100UL, 16384UL, 70000UL, 5UL << 20}) {
    std::string body(size, 'a');
    body.back() = 'z';
    const auto response = client->exchange(post("/memory", body));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(text_of(response->body), body) << size;
  }
  EXPECT_EQ(handler_.memory_in_use(), 0);
}

TEST_F(Http, AnswersPipelinedRequestsInOrder) {
  start();
  const auto client = this->client();
  std::string burst;
  for (int i = 0; i < 200; ++i) {
    const std::string body = "number " + std::to_string(i);
    burst += "POST " + std::string(i % 3 == 0 ? "/later" : "/echo") +
             " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
             body;
  }
  ASSERT_TRUE(client->send(bytes_of(burst)));
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(hear(*client), "200 number " + std::to_string(i));
  }
}

TEST_F(Http, ReadsARequestThatComesByteByByte) {
  start();
  const auto client = this->client();
  const std::string request =
      "POST /memory?a=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  for (const char byte : request) ASSERT_TRUE(client->send(bytes_of({&byte, 1})));
  EXPECT_EQ(hear(*client), "200 abc");
}

TEST_F(Http, ReadsChunkedBodies) {
  start();
  const auto client = this->client();
  const std::string head = "POST /memory HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string next = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nnext";
  EXPECT_EQ(say(*client,
                head + "5\r\nhello\r\n1;x=y\r\n \r\n5\r\nworld\r\n0\r\nTrailer: t\r\n\r\n" + next),
            "200 hello world");
  EXPECT_EQ(hear(*client), "200 next");
  const std::string large(1 << 20, 'c');
  std::string chunks;
  for (std::size_t at = 0; at < large.size(); at += 4096) {
    chunks += "1000\r\n" + large.substr(at, 4096) + "\r\n";
  }
  EXPECT_EQ(say(*client, head + chunks + "0\r\n\r\n"), "200 " + large);
}

TEST_F(Http, RefusesWhatIsNotHttp) {
  start();
  const std::vector<std::string> requests = {
      "nonsense\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",  // no Host
      "GET / HTTP/1.1\r\nHost a\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
  };
  for (const std::string& request : requests) {
    const auto client = this->client();
    const std::string answer = say(*client, request);
    EXPECT_TRUE(answer.starts_with("400 {\"error\":\"malformed")) << request << "\n" << answer;
    EXPECT_FALSE(client->receive()) << "the connection is closed after " << request;
  }
}

TEST_F(Http, SaysWhichLimitARequestBreaks) {
  start({.max_head = {.count = 1000}, .max_headers = 10, .max_body = {.count = 100}});
  const auto answer = [&](const std::string& request) { return say(*client(), request); };
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 11; ++i) many += "H" + std::to_string(i) + ": x\r\n";
  EXPECT_EQ(answer(many + "\r\n"), R"(431 {"error":"the request has more than 10 headers"})");
  EXPECT_EQ(answer("GET /" + std::string(1000, 'a')),
            R"(431 {"error":"the request's head is larger than the 1000 bytes allowed"})");
  EXPECT_EQ(answer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n"),
            R"(413 {"error":"the request's body is larger than the 100 bytes allowed"})");
  EXPECT_EQ(answer("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n"),
            R"(413 {"error":"the request's body is larger than allowed"})");
  EXPECT_EQ(answer("GET / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n"),
            R"(417 {"error":"Expect 'magic' is not supported"})");
  EXPECT_EQ(answer("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            R"(501 {"error":"Transfer-Encoding 'gzip, chunked' is not supported"})");
  EXPECT_TRUE(answer("GET / HTTP/2.0\r\nHost: a\r\n\r\n").starts_with("505 "));
}

TEST_F(Http, ShowsTheRefusalToAClientThatSendsAHugeBodyFirst) {
  start({.max_body = {.count = 1000}});
  const auto client = this->client();
  const auto response = client->exchange(post("/echo", std::string(8 << 20, 'x')));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(response->header("Connection"), "close");
}

TEST_F(Http, RefusesBeforeReadingWhenTheHandlerSaysSo) {
  start();
  const auto client = this->client();
  EXPECT_EQ(say(*client, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
            R"(503 {"error":"not today"})");
  EXPECT_EQ(say(*client, "GET /refuse HTTP/1.1\r\nHost: a\r\n\r\n"),
            R"(503 {"error":"not today"})");
  EXPECT_EQ(say(*client,
                "POST /refuse HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                "1\r\na\r\n0\r\n\r\n"),
            R"(503 {"error":"not today"})");
  EXPECT_EQ(say(*client, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc"),
            R"(503 {"error":"not today"})");
  const auto closed = client->receive();
  ASSERT_FALSE(closed) << "the body that nobody reads ends the connection";
}

TEST_F(Http, SendsContinueBeforeTheBodyAndOnlyWhenItIsWanted) {
  start();
  const auto client = this->client();
  const std::string head =
      " HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  ASSERT_TRUE(client->send(bytes_of("POST /refuse" + head)));
  EXPECT_TRUE(hear(*client).starts_with("503 "));
  const auto second = this->client();
  ASSERT_TRUE(second->send(bytes_of("POST /echo" + head)));
  const auto interim = second->receive_head();
  ASSERT_TRUE(interim) << interim.error().message;
  EXPECT_EQ(interim->status, 100);
  EXPECT_EQ(say(*second, "abc"), "200 abc");
}

TEST_F(Http, SpeaksHttp10) {
  start();
  const auto client = this->client();
  ASSERT_TRUE(client->send(bytes_of("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")));
  auto response = client->receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("Connection"), "keep-alive");
  ASSERT_TRUE(client->send(bytes_of("GET /echo HTTP/1.0\r\n\r\n")));
  response = client->receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("Connection"), "close");
}

TEST_F(Http, AnswersHeadWithoutABody) {
  start();
  const auto client = this->client();
  const std::string both =
      "HEAD /fixed HTTP/1.1\r\nHost: a\r\n\r\nGET /fixed HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_TRUE(client->send(bytes_of(both)));
  const auto head = client->receive_head();
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->header("Content-Length"), "5");
  EXPECT_EQ(hear(*client), "200 fixed");
}

TEST_F(Http, AnswersAClientThatHasOnlyClosedItsSendingSide) {
  start();
  const auto client = this->client();
  ASSERT_TRUE(
      client->send(bytes_of("GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
                            "GET /fixed HTTP/1.1\r\nHost: a\r\n\r\n")));
  client->finish_sending();
  EXPECT_EQ(hear(*client), "200 ");
  EXPECT_EQ(hear(*client), "200 fixed");
  EXPECT_FALSE(client->receive());
}

TEST_F(Http, GivesThePlaceBackWhenTheClientGoesInMidBody) {
  start();
  auto client = this->client();
  ASSERT_TRUE(client->send(
      bytes_of("POST /memory HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")));
  handler_.wait_for_memory_in_use(1);
  client.reset();
  handler_.wait_for_memory_in_use(0);
  EXPECT_EQ(handler_.drops(), 1);
}

TEST_F(Http, TellsTheHandlerThatAClientHasGone) {
  start();
  auto client = this->client();
  ASSERT_TRUE(client->send(bytes_of("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")));
  handler_.wait_until_held();
  EXPECT_FALSE(handler_.held_client_gone());
  client.reset();
  while (!handler_.held_client_gone()) std::this_thread::yield();
  handler_.release_held();
  const auto next = this->client();
  EXPECT_EQ(say(*next, "GET /fixed HTTP/1.1\r\nHost: a\r\n\r\n"), "200 fixed");
}

TEST_F(Http, AnswersAnExchangeThatWasGivenUp) {
  start();
  EXPECT_EQ(say(*client(), "GET /forget HTTP/1.1\r\nHost: a\r\n\r\n"),
            R"(500 {"error":"the request was given up without an answer"})");
}

TEST_F(Http, ClosesSlowAndIdleClients) {
  start();
  const auto idle = client();
  ASSERT_TRUE(idle->exchange(post("/echo", "x")));
  const auto slow_head = client();
  ASSERT_TRUE(slow_head->exchange(post("/echo", "x")));
  ASSERT_TRUE(slow_head->send(bytes_of("GET / HT")));
  const auto slow_body = client();
  ASSERT_TRUE(slow_body->exchange(post("/echo", "x")));
  ASSERT_TRUE(slow_body->send(
      bytes_of("POST /memory HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")));
  handler_.wait_for_memory_in_use(1);
  std::jthread time([&](const std::stop_token& token) {
    while (!token.stop_requested()) {
      clock_.advance(std::chrono::seconds(1));
      wake();
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(hear(*slow_head), R"(408 {"error":"the request did not come in time"})");
  EXPECT_EQ(hear(*slow_body), R"(408 {"error":"the request did not come in time"})");
  EXPECT_FALSE(idle->receive());
  EXPECT_EQ(handler_.drops(), 1);
}

TEST_F(Http, RefusesConnectionsOverTheLimit) {
  start({.max_connections = 2});
  const auto first = client();
  const auto second = client();
  ASSERT_TRUE(first->exchange(post("/echo", "x")));
  ASSERT_TRUE(second->exchange(post("/echo", "x")));
  EXPECT_EQ(hear(*client()),
            R"(503 {"error":"too many connections: 2 are open, which is the limit"})");
  EXPECT_TRUE(first->exchange(post("/echo", "x")));
}

TEST_F(Http, DrainsByAnsweringWhatHasBegun) {
  start();
  const auto held = client();
  ASSERT_TRUE(held->send(bytes_of("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")));
  handler_.wait_until_held();
  const auto idle = client();
  ASSERT_TRUE(idle->exchange(post("/echo", "x")));
  std::jthread draining([&] { EXPECT_TRUE(server_->drain(std::chrono::hours(1))); });
  std::jthread time([&](const std::stop_token& token) {
    while (!token.stop_requested()) {
      clock_.advance(std::chrono::milliseconds(1));
      wake();
      std::this_thread::yield();
    }
  });
  EXPECT_FALSE(idle->receive());
  handler_.release_held();
  const auto response = held->receive();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(text_of(response->body), "held");
  EXPECT_EQ(response->header("Connection"), "close");
  draining.join();
  EXPECT_FALSE(HttpClient::connect({.port = server_->port()}));
}

TEST_F(Http, DrainCutsOffWhatTakesTooLong) {
  start();
  const auto held = client();
  ASSERT_TRUE(held->send(bytes_of("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")));
  handler_.wait_until_held();
  std::jthread time([&](const std::stop_token& token) {
    while (!token.stop_requested()) {
      clock_.advance(std::chrono::milliseconds(100));
      wake();
      std::this_thread::yield();
    }
  });
  EXPECT_FALSE(server_->drain(std::chrono::seconds(5)));
  EXPECT_FALSE(held->receive());
  handler_.release_held();
}

TEST_F(Http, ServesManyConnectionsAtOnce) {
  start();
  std::vector<std::jthread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      const auto client = this->client();
      for (int i = 0; i < 300; ++i) {
        const std::string body(static_cast<std::size_t>(1 + (i * 37 + c) % 3000), 'a' + c);
        const auto response = client->exchange(post(i % 2 == 0 ? "/memory" : "/later", body));
        ASSERT_TRUE(response) << response.error().message;
        ASSERT_EQ(text_of(response->body), body);
      }
    });
  }
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const SystemClock clock;
  EchoHandler handler;
  const auto threads = *NetThreads::start(1, clock);
  const auto first = HttpServer::start({}, handler, *threads);
  ASSERT_TRUE(first);
  const auto second = HttpServer::start({.port = (*first)->port()}, handler, *threads);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "listening on 127.0.0.1 port " +
                                        std::to_string((*first)->port()) +
                                        ": Address already in use");
  EXPECT_FALSE(HttpServer::start({.address = "nowhere"}, handler, *threads));
}

}  // namespace
}  // namespace corelane::net
