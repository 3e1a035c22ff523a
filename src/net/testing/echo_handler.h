#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "net/http.h"

namespace corelane::net::testing {

/// Answers with the request's body. The path says how: /echo at once, /later from another thread,
/// /memory from memory of its own, /hold when told to, /fixed with "fixed"; /refuse refuses and
/// /forget gives the exchange up. Thread-safe.
class EchoHandler final : public Handler {
 public:
  EchoHandler() : answers_([this](const std::stop_token& stop) { answer_later(stop); }) {}
  ~EchoHandler() override {
    shared_.with([this](Shared&) { answers_.request_stop(); });
    shared_.notify_all();
  }

  Placement place(const RequestView& head, std::uint64_t length) override {
    if (head.path == "/refuse") return Refusal{.status = 503, .message = "not today"};
    if (head.path != "/memory" || length == 0) return BodyPlace{};
    auto own = std::make_unique<OwnMemory>();
    own->bytes.resize(length);
    const BodyPlace place{.memory = own->bytes, .context = own.get()};
    shared_.with([&](Shared& shared) {
      shared.memories.push_back(std::move(own));
      ++shared.memory_in_use;
    });
    shared_.notify_all();
    return place;
  }

  void drop(RequestContext* context) override {
    shared_.with([](Shared& shared) { ++shared.drops; });
    give_back(context);
  }

  void serve(const RequestView& request, RequestContext* context, Exchange exchange) override {
    if (request.path == "/later") {
      add(&Shared::later, std::move(exchange), request);
    } else if (request.path == "/hold") {
      add(&Shared::held, std::move(exchange), request);
    } else if (request.path == "/fixed") {
      answer(exchange, request.path, "fixed");
    } else if (request.path != "/forget") {
      answer(exchange, request.path,
             {reinterpret_cast<const char*>(request.body.data()), request.body.size()});
    }
    if (context != nullptr) give_back(context);
  }

  int memory_in_use() {
    return shared_.with([](Shared& shared) { return shared.memory_in_use; });
  }
  void wait_for_memory_in_use(int count) {
    shared_.when([&](Shared& shared) { return shared.memory_in_use == count; }, [](Shared&) {});
  }
  int drops() {
    return shared_.when([](Shared& shared) { return shared.memory_in_use == 0; },
                        [](Shared& shared) { return shared.drops; });
  }
  void wait_until_held() {
    shared_.when([](Shared& shared) { return !shared.held.empty(); }, [](Shared&) {});
  }
  bool held_client_gone() {
    return shared_.with([](Shared& shared) { return shared.held.front().exchange.client_gone(); });
  }
  void release_held() {
    auto held = shared_.with([](Shared& shared) { return std::exchange(shared.held, {}); });
    for (Waiting& each : held) answer(each.exchange, "/hold", "held");
  }

 private:
  struct OwnMemory : RequestContext {
    std::vector<std::byte> bytes;
  };
  struct Waiting {
    Exchange exchange;
    std::string path;
    std::string body;
  };
  struct Shared {
    std::vector<Waiting> later;
    std::vector<Waiting> held;
    std::vector<std::unique_ptr<OwnMemory>> memories;
    int memory_in_use = 0;
    int drops = 0;
  };

  static void answer(Exchange& exchange, std::string_view path, std::string_view text) {
    const HeaderView header{.name = "X-Path", .value = path};
    const std::span<const std::byte> body = std::as_bytes(std::span(text.data(), text.size()));
    exchange.answer(
        {.content_type = "application/octet-stream", .headers = {&header, 1}, .body = {&body, 1}});
  }

  void add(std::vector<Waiting> Shared::* where, Exchange exchange, const RequestView& request) {
    Waiting waiting{
        .exchange = std::move(exchange),
        .path = std::string(request.path),
        .body = {reinterpret_cast<const char*>(request.body.data()), request.body.size()}};
    shared_.with([&](Shared& shared) { (shared.*where).push_back(std::move(waiting)); });
    shared_.notify_all();
  }

  void give_back(RequestContext* context) {
    shared_.with([&](Shared& shared) {
      std::erase_if(shared.memories, [&](const auto& each) { return each.get() == context; });
      --shared.memory_in_use;
    });
    shared_.notify_all();
  }

  void answer_later(const std::stop_token& stop) {
    for (;;) {
      auto later = shared_.when(
          [&](Shared& shared) { return stop.stop_requested() || !shared.later.empty(); },
          [](Shared& shared) { return std::exchange(shared.later, {}); });
      if (later.empty()) return;
      for (Waiting& each : later) answer(each.exchange, each.path, each.body);
    }
  }

  Guarded<Shared> shared_;
  std::jthread answers_;
};

}  // namespace corelane::net::testing
