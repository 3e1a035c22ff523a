#include "serve/grpc_unary.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "serve/grpc_context.h"
#include "service/service.h"
#include "wire/grpc_response.h"
#include "wire/http_status.h"

namespace corelane::serve {
namespace {

/// One ModelInfer. It belongs to gRPC from the return of serve_unary_infer() to OnDone().
class UnaryInfer final : public grpc::ServerUnaryReactor, public service::ReplySink {
 public:
  UnaryInfer(GrpcContext& context, grpc::CallbackServerContext& call, grpc::ByteBuffer& response)
      : context_(context),
        call_(call),
        response_(response),
        deadline_(deadline_of(call, context.clock)),
        work_(context.works.take()) {}

  void begin(const grpc::ByteBuffer& request) {
    const Status submitted = submit_infer(context_, *work_, request, deadline_, *this);
    if (!submitted) end(work_->parser.seen().model, submitted.error());
  }

  void reply(const service::Reply& reply) override {
    if (!reply.status) {
      if (reply.retry_after > Nanos{}) tell_when_to_retry(reply.retry_after);
      return end(work_->request.model(), reply.status.error());
    }
    const auto answer = work_->request.answer(reply);
    if (!answer) return end(work_->request.model(), answer.error());
    response_ = to_buffer(work_->writer.write(*answer, wire::GrpcAnswer::kUnary));
    end(work_->request.model(), grpc::Status::OK, 200);
  }

  void OnDone() override { const std::unique_ptr<UnaryInfer> ended(this); }

 private:
  void tell_when_to_retry(Nanos after) {
    const auto millis = std::chrono::ceil<std::chrono::milliseconds>(after).count();
    call_.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(millis));
  }
  void end(std::string_view model, const Error& error) {
    // Too late by the call's own deadline is what the client's library says too.
    const bool own = error.code == ErrorCode::kDeadlineExceeded && deadline_ != Nanos::max() &&
                     context_.clock.now() >= deadline_;
    const grpc::Status status =
        own ? grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, error.message) : to_status(error);
    end(model, status, wire::http_status(error.code));
  }
  /// Nothing of this may be touched afterwards.
  void end(std::string_view model, const grpc::Status& status, int http_status) {
    context_.counters.add(model, http_status);
    context_.works.give_back(std::move(work_));
    Finish(status);
  }

  GrpcContext& context_;
  grpc::CallbackServerContext& call_;
  grpc::ByteBuffer& response_;
  const Nanos deadline_;
  std::unique_ptr<GrpcWork> work_;
};

}  // namespace

grpc::ServerUnaryReactor* serve_unary_infer(GrpcContext& context, grpc::CallbackServerContext& call,
                                            const grpc::ByteBuffer& request,
                                            grpc::ByteBuffer& response) {
  UnaryInfer* const reactor =
      std::make_unique<UnaryInfer>(context, call, response).release();  // until its OnDone()
  reactor->begin(request);
  return reactor;
}

}  // namespace corelane::serve
