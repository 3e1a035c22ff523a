#include "net/request_parser.h"

#include <string.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/byte_buffer.h"
#include "net/http.h"

namespace corelane::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

std::string_view std_view(beast::string_view text) { return {text.data(), text.size()}; }

/// Collects what Beast finds. Views point into the bytes given to put().
class BeastParser final : public http::basic_parser<true> {
 public:
  BeastParser(std::vector<HeaderView>& headers, const HeadLimits& limits, std::string_view head)
      : headers_(headers), limits_(limits), head_(head) {
    headers_.clear();
    header_limit(static_cast<std::uint32_t>(head.size() + 1));
    body_limit(limits.max_body);
    eager(false);
  }

  std::string_view method() const { return method_; }
  std::string_view target() const { return target_; }
  int version() const { return version_; }
  bool too_many_headers() const { return headers_.size() > limits_.max_headers; }
  void collect_into(ByteBuffer& body) { body_ = &body; }

 protected:
  void on_request_impl(http::verb /*method*/, beast::string_view method, beast::string_view target,
                       int version, error_code& /*error*/) override {
    method_ = std_view(method);
    target_ = std_view(target);
    version_ = version;
  }

  void on_response_impl(int /*status*/, beast::string_view /*reason*/, int /*version*/,
                        error_code& /*error*/) override {}

  void on_field_impl(http::field /*name*/, beast::string_view name, beast::string_view value,
                     error_code& error) override {
    if (body_ != nullptr) return;  // trailers are not used
    const auto text = std_view(value);
    const bool folded =
        !text.empty() && (text.data() < head_.data() || text.data() >= head_.data() + head_.size());
    headers_.push_back({.name = std_view(name), .value = text});
    if (folded || too_many_headers()) error = http::error::bad_value;
  }

  void on_header_impl(error_code& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         error_code& /*error*/) override {}
  std::size_t on_body_impl(beast::string_view body, error_code& /*error*/) override {
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, beast::string_view /*extensions*/,
                            error_code& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, beast::string_view body,
                                 error_code& /*error*/) override {
    body_->append(std_view(body));
    return body.size();
  }
  void on_finish_impl(error_code& /*error*/) override {}

 private:
  std::vector<HeaderView>& headers_;
  HeadLimits limits_;
  std::string_view head_;
  std::string_view method_;
  std::string_view target_;
  int version_ = 11;
  ByteBuffer* body_ = nullptr;
};

/// "http://host/path?query" is the same as "/path?query".
std::string_view origin_form(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (!target.starts_with(kScheme)) return target;
  const auto slash = target.find('/', kScheme.size());
  return slash == std::string_view::npos ? "/" : target.substr(slash);
}

ProtocolError explain(const error_code& error) {
  if (error == http::error::body_limit) return {413, "the request's body is larger than allowed"};
  if (error == http::error::header_limit) return {431, "the request's head is larger than allowed"};
  if (error == http::error::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are served"};
  return {400, "malformed HTTP request: " + error.message()};
}

}  // namespace

struct RequestParser::State {
  std::optional<BeastParser> beast;
  std::vector<HeaderView> headers;
  RequestHeadView head;
  ProtocolError error;

  const RequestHeadView* fail(ProtocolError why) {
    error = std::move(why);
    return nullptr;
  }
  const RequestHeadView* finish();
};

RequestParser::RequestParser() : state_(std::make_unique<State>()) {}
RequestParser::~RequestParser() = default;

const ProtocolError& RequestParser::error() const { return state_->error; }

std::optional<std::size_t> head_length(std::string_view bytes, std::size_t searched) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  if (bytes.size() < kEnd.size()) return std::nullopt;
  const std::size_t from = searched < kEnd.size() ? 0 : searched - (kEnd.size() - 1);
  const void* found = ::memmem(bytes.data() + from, bytes.size() - from, kEnd.data(), kEnd.size());
  if (found == nullptr) return std::nullopt;
  return static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data()) + kEnd.size();
}

const RequestHeadView* RequestParser::parse_head(std::string_view head, const HeadLimits& limits) {
  State& state = *state_;
  BeastParser& beast = state.beast.emplace(state.headers, limits, head);
  error_code error;
  const std::size_t used = beast.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error == http::error::body_limit) {
    return state.fail({413, "the request's body is larger than the " +
                                std::to_string(limits.max_body) + " bytes allowed"});
  }
  if (beast.too_many_headers()) {
    return state.fail(
        {431, "the request has more than " + std::to_string(limits.max_headers) + " headers"});
  }
  if (error) return state.fail(explain(error));
  if (!beast.is_header_done() || used != head.size()) {
    return state.fail({400, "malformed HTTP request: an empty line inside the head"});
  }
  return state.finish();
}

const RequestHeadView* RequestParser::State::finish() {
  const std::string_view target = origin_form(beast->target());
  const std::size_t question = target.find('?');
  head = {};
  head.request.method = beast->method();
  head.request.path = target.substr(0, question);
  if (question != std::string_view::npos) head.request.query = target.substr(question + 1);
  head.request.headers = headers;
  head.keep_alive = beast->keep_alive();
  head.http_1_0 = beast->version() < 11;
  head.chunked = beast->chunked();
  head.length = beast->content_length().value_or(0);

  if (!head.http_1_0 && !head.request.header("Host")) {
    return fail({400, "malformed HTTP request: HTTP/1.1 needs a Host header"});
  }
  if (const auto coding = head.request.header("Transfer-Encoding");
      coding && !beast::iequals(beast::string_view(coding->data(), coding->size()), "chunked")) {
    return fail({501, "Transfer-Encoding '" + std::string(*coding) + "' is not supported"});
  }
  if (const auto expected = head.request.header("Expect"); expected && !head.http_1_0) {
    head.expects_continue =
        beast::iequals(beast::string_view(expected->data(), expected->size()), "100-continue");
    if (!head.expects_continue) {
      return fail({417, "Expect '" + std::string(*expected) + "' is not supported"});
    }
  }
  return &head;
}

ChunkProgress RequestParser::parse_chunks(std::string_view bytes, ByteBuffer& body) {
  BeastParser& beast = *state_->beast;
  beast.collect_into(body);
  ChunkProgress progress;
  while (!beast.is_done()) {
    error_code error;
    progress.used += beast.put(
        boost::asio::const_buffer(bytes.data() + progress.used, bytes.size() - progress.used),
        error);
    if (error == http::error::need_more) return progress;
    if (error) {
      progress.error = explain(error);
      return progress;
    }
    if (progress.used == bytes.size() && !beast.is_done()) return progress;
  }
  progress.complete = true;
  return progress;
}

}  // namespace corelane::net
