#include "net/http.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace corelane::net {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

bool same_header_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> RequestView::header(std::string_view name) const {
  for (const HeaderView& header : headers) {
    if (same_header_name(header.name, name)) return header.value;
  }
  return std::nullopt;
}

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  Exchange former(std::move(*this));
  to_ = std::exchange(other.to_, nullptr);
  return *this;
}

Exchange::~Exchange() {
  if (to_ == nullptr) return;
  constexpr std::string_view kBody = R"({"error":"the request was given up without an answer"})";
  const std::span<const std::byte> body = std::as_bytes(std::span(kBody));
  answer({.status = 500, .body = {&body, 1}});
}

void Exchange::answer(const ResponseView& response) {
  check(to_ != nullptr, "a request is answered once");
  std::exchange(to_, nullptr)->answer(response);
}

bool Exchange::client_gone() const { return to_ != nullptr && to_->client_gone(); }

}  // namespace corelane::net
