#include "serve/grpc_server.h"

#include <fmt/format.h>
#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "serve/grpc_context.h"
#include "serve/grpc_service.h"
#include "serve/grpc_stream.h"
#include "serve/http_counters.h"
#include "service/service.h"

namespace corelane::serve {
namespace {

class FrontOverGrpc final : public GrpcServer {
 public:
  FrontOverGrpc(service::Service& service, lane::Arena& arena, const Clock& clock,
                HttpCounters& counters)
      : context_{.service = service,
                 .clock = clock,
                 .counters = counters,
                 .works = GrpcWorks(arena)},
        streams_(GrpcStreams::create(context_)),
        inference_(make_inference_service(context_, *streams_)),
        health_(make_health_service(context_)) {}

  ~FrontOverGrpc() override {
    if (!server_) return;
    if (!shutdown_.joinable()) {
      streams_->end_all();
      server_->Shutdown(gpr_time_0(GPR_CLOCK_MONOTONIC));
    }
  }
  FrontOverGrpc(const FrontOverGrpc&) = delete;
  FrontOverGrpc& operator=(const FrontOverGrpc&) = delete;

  Status listen(const GrpcServerOptions& options) {
    const bool is_ipv6 = options.address.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + options.address + "]" : options.address;
    const std::string address = fmt::format("{}:{}", host, options.port);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_request.count));
    builder.SetMaxSendMessageSize(-1);
    // Two servers never share a port unnoticed.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // gRPC unpacks a message whole, however large it becomes, before its size is looked at.
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    builder.RegisterService(inference_.get());
    builder.RegisterService(health_.get());
    server_ = builder.BuildAndStart();
    if (!server_ || port == 0) return io_error(address + " cannot be listened on for gRPC");
    port_ = static_cast<std::uint16_t>(port);
    return {};
  }

  std::uint16_t port() const override { return port_; }

  bool drain(Nanos limit) override {
    context_.ending.store(true);
    streams_->end_all();
    // Shutdown() waits for every call, at its deadline it would cut them off: whoever drains
    // decides about that, so the deadline is far.
    std::promise<void> ended;
    std::future<void> end = ended.get_future();
    shutdown_ = std::jthread([&server = *server_, ended = std::move(ended)]() mutable {
      server.Shutdown(gpr_inf_future(GPR_CLOCK_MONOTONIC));
      ended.set_value();
    });
    return end.wait_for(limit) == std::future_status::ready;
  }

 private:
  GrpcContext context_;
  std::unique_ptr<GrpcStreams> streams_;
  std::unique_ptr<grpc::Service> inference_;
  std::unique_ptr<grpc::Service> health_;
  std::unique_ptr<grpc::Server> server_;
  std::uint16_t port_ = 0;
  std::jthread shutdown_;
};

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(service::Service& service, lane::Arena& arena,
                                                      const Clock& clock, HttpCounters& counters,
                                                      const GrpcServerOptions& options) {
  auto server = std::make_unique<FrontOverGrpc>(service, arena, clock, counters);
  if (auto status = server->listen(options); !status) return std::move(status).error();
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace corelane::serve
