#include "serve/grpc_context.h"

#include <grpc/slice.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "service/service.h"
#include "wire/grpc_response.h"
#include "wire/grpc_status.h"

namespace corelane::serve {
namespace {

std::span<std::byte> copy_slice(const grpc::Slice& slice, std::span<std::byte> to) {
  std::memcpy(to.data(), slice.begin(), slice.size());
  return to.subspan(slice.size());
}

void copy_message(const grpc::ByteBuffer& message, std::span<std::byte> to) {
  if (to.empty()) return;
  grpc::Slice single;
  if (message.TrySingleSlice(&single).ok()) {
    copy_slice(single, to);
    return;
  }
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return;
  for (const grpc::Slice& slice : slices) to = copy_slice(slice, to);
}

}  // namespace

std::unique_ptr<GrpcWork> GrpcWorks::take() {
  auto idle = idle_.with([](auto& all) -> std::unique_ptr<GrpcWork> {
    if (all.empty()) return nullptr;
    auto last = std::move(all.back());
    all.pop_back();
    return last;
  });
  return idle ? std::move(idle) : std::make_unique<GrpcWork>(arena_);
}

void GrpcWorks::give_back(std::unique_ptr<GrpcWork> work) {
  work->request.clear();
  idle_.with([&](auto& all) { all.push_back(std::move(work)); });
}

Nanos deadline_of(const grpc::CallbackServerContext& call, const Clock& clock) {
  const auto deadline = call.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return Nanos::max();
  return clock.now() + (deadline.time_since_epoch() - clock.since_epoch());
}

Status submit_infer(GrpcContext& context, GrpcWork& work, const grpc::ByteBuffer& message,
                    Nanos deadline, service::ReplySink& sink) {
  // Raw contents are a message's last field, so its end is what is aligned.
  const std::size_t length = message.Length();
  auto place = work.request.place(length, length);
  if (!place) return std::move(place).error();
  copy_message(message, *place);
  auto parsed = work.parser.parse(*place, work.request);
  if (!parsed) return std::move(parsed).error();
  work.final_mark = parsed->final_mark;
  auto request = work.request.make_request(parsed->request, parsed->model, parsed->version,
                                           context.clock.now());
  if (!request) return std::move(request).error();
  request->deadline = std::min(request->deadline, deadline);
  context.service.submit(*std::move(request), sink);
  return {};
}

grpc::ByteBuffer to_buffer(const wire::EncodedMessageView& message) {
  grpc_slice raw = grpc_slice_malloc(message.size);
  unsigned char* to = GRPC_SLICE_START_PTR(raw);
  for (const std::span<const std::byte> piece : message.pieces) {
    if (piece.empty()) continue;
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
  const grpc::Slice slice(raw, grpc::Slice::STEAL_REF);
  return {&slice, 1};
}

grpc::Status to_status(const Error& error) {
  return {static_cast<grpc::StatusCode>(wire::grpc_status(error.code)), error.message};
}

}  // namespace corelane::serve
