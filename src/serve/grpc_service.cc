#include "serve/grpc_service.h"

#include <grpcpp/grpcpp.h>
#include <health.grpc.pb.h>
#include <health.pb.h>
#include <inference.grpc.pb.h>
#include <inference.pb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "serve/describe.h"
#include "serve/grpc_context.h"
#include "serve/grpc_stream.h"
#include "serve/grpc_unary.h"
#include "service/service.h"
#include "wire/grpc_messages.h"
#include "wire/v2_response.h"

namespace corelane::serve {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

ServerUnaryReactor* end(CallbackServerContext& call,
                        const grpc::Status& status = grpc::Status::OK) {
  ServerUnaryReactor* const reactor = call.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

bool server_ready(const GrpcContext& context) {
  return !context.ending.load() && context.service.ready();
}

/// False for what is not served, as the protocol has it; an error for a version that is no number.
Result<bool> model_ready(const GrpcContext& context, const std::string& model,
                         const std::string& version) {
  const auto manifest = context.service.find(model, version);
  if (!manifest) {
    if (manifest.error().code == ErrorCode::kNotFound) return false;
    return manifest.error();
  }
  for (const service::ServedModel& served : context.service.models()) {
    if (served.name == (*manifest)->name && served.version == (*manifest)->version) {
      return served.ready;
    }
  }
  return false;
}

using Protocol = inference::GRPCInferenceService;
template <typename Base>
using WithServerMethods = Protocol::WithCallbackMethod_ServerLive<
    Protocol::WithCallbackMethod_ServerReady<Protocol::WithCallbackMethod_ServerMetadata<Base>>>;
template <typename Base>
using WithModelMethods = Protocol::WithCallbackMethod_ModelReady<
    Protocol::WithCallbackMethod_ModelMetadata<Protocol::WithCallbackMethod_ModelConfig<
        Protocol::WithCallbackMethod_ModelStatistics<Base>>>>;
// Infer requests and answers are read and written by ours, not as messages.
template <typename Base>
using WithInferMethods = Protocol::WithRawCallbackMethod_ModelInfer<
    Protocol::WithRawCallbackMethod_ModelStreamInfer<Base>>;

class InferenceService final
    : public WithServerMethods<WithModelMethods<WithInferMethods<Protocol::Service>>> {
 public:
  InferenceService(GrpcContext& context, GrpcStreams& streams)
      : context_(context), streams_(streams) {}

  ServerUnaryReactor* ServerLive(CallbackServerContext* call, const inference::ServerLiveRequest*,
                                 inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return end(*call);
  }

  ServerUnaryReactor* ServerReady(CallbackServerContext* call, const inference::ServerReadyRequest*,
                                  inference::ServerReadyResponse* response) override {
    response->set_ready(server_ready(context_));
    return end(*call);
  }

  ServerUnaryReactor* ServerMetadata(CallbackServerContext* call,
                                     const inference::ServerMetadataRequest*,
                                     inference::ServerMetadataResponse* response) override {
    *response = wire::to_message(wire::ServerMetadata{
        .name = "corelane",
        .version = CORELANE_VERSION,
        .extensions = {"classification", "model_configuration", "statistics"}});
    return end(*call);
  }

  ServerUnaryReactor* ModelReady(CallbackServerContext* call,
                                 const inference::ModelReadyRequest* request,
                                 inference::ModelReadyResponse* response) override {
    const auto ready = model_ready(context_, request->name(), request->version());
    if (!ready) return end(*call, to_status(ready.error()));
    response->set_ready(*ready);
    return end(*call);
  }

  ServerUnaryReactor* ModelMetadata(CallbackServerContext* call,
                                    const inference::ModelMetadataRequest* request,
                                    inference::ModelMetadataResponse* response) override {
    const auto manifest = context_.service.find(request->name(), request->version());
    if (!manifest) return end(*call, to_status(manifest.error()));
    *response = wire::to_message(describe_metadata(**manifest, context_.service.models()));
    return end(*call);
  }

  ServerUnaryReactor* ModelConfig(CallbackServerContext* call,
                                  const inference::ModelConfigRequest* request,
                                  inference::ModelConfigResponse* response) override {
    const auto manifest = context_.service.find(request->name(), request->version());
    if (!manifest) return end(*call, to_status(manifest.error()));
    *response = wire::to_message(describe_config(**manifest, context_.service.models()));
    return end(*call);
  }

  ServerUnaryReactor* ModelStatistics(CallbackServerContext* call,
                                      const inference::ModelStatisticsRequest* request,
                                      inference::ModelStatisticsResponse* response) override {
    std::optional<std::int64_t> version;
    if (!request->name().empty()) {
      const auto manifest = context_.service.find(request->name(), request->version());
      if (!manifest) return end(*call, to_status(manifest.error()));
      if (!request->version().empty()) version = (*manifest)->version;
    }
    const Nanos boot = context_.clock.since_epoch() - context_.clock.now();
    *response = wire::to_message(
        describe_statistics(context_.service.stats(), request->name(), version, boot));
    return end(*call);
  }

  ServerUnaryReactor* ModelInfer(CallbackServerContext* call, const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override {
    return serve_unary_infer(context_, *call, *request, *response);
  }

  GrpcStreams::Reactor* ModelStreamInfer(CallbackServerContext* call) override {
    return streams_.open(*call);
  }

 private:
  GrpcContext& context_;
  GrpcStreams& streams_;
};

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthService final : public Health::WithCallbackMethod_Check<Health::Service> {
 public:
  explicit HealthService(GrpcContext& context) : context_(context) {}

  ServerUnaryReactor* Check(CallbackServerContext* call, const HealthCheckRequest* request,
                            HealthCheckResponse* response) override {
    const std::string& name = request->service();
    if (!name.empty() && name != Protocol::service_full_name()) {
      return end(*call, {grpc::StatusCode::NOT_FOUND, "no service '" + name + "' here"});
    }
    response->set_status(server_ready(context_) ? HealthCheckResponse::SERVING
                                                : HealthCheckResponse::NOT_SERVING);
    return end(*call);
  }

 private:
  GrpcContext& context_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_inference_service(GrpcContext& context, GrpcStreams& streams) {
  return std::make_unique<InferenceService>(context, streams);
}

std::unique_ptr<grpc::Service> make_health_service(GrpcContext& context) {
  return std::make_unique<HealthService>(context);
}

}  // namespace corelane::serve
