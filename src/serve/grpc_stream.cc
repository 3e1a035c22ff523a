#include "serve/grpc_stream.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "serve/grpc_context.h"
#include "service/service.h"
#include "wire/grpc_response.h"
#include "wire/http_status.h"

namespace corelane::serve {
namespace {

class InferStream;

/// What the registry needs to know of a stream.
class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual void ended(InferStream& stream) = 0;
};

/// One request of a stream and, once it is there, its answer.
class StreamedInfer final : public service::ReplySink {
 public:
  StreamedInfer(GrpcContext& context, InferStream& stream)
      : context_(context), stream_(stream), work_(context.works.take()) {}

  void begin(const grpc::ByteBuffer& message, Nanos deadline) {
    const Status submitted = submit_infer(context_, *work_, message, deadline, *this);
    if (submitted) return;
    const auto& seen = work_->parser.seen();
    refuse(seen.model, seen.request.id.value_or(std::string_view()), submitted.error());
  }
  void reply(const service::Reply& reply) override;

  // By the stream's lock:
  bool answered = false;
  // Written before answered is set, read after:
  grpc::ByteBuffer answer;

 private:
  void refuse(std::string_view model, std::string_view id, const Error& error);
  void end(std::string_view model, int http_status);

  GrpcContext& context_;
  InferStream& stream_;
  std::unique_ptr<GrpcWork> work_;
};

/// One ModelStreamInfer. gRPC's threads and those that drive lanes call it at once, so each looks
/// under the lock at what is to be done next (choose) and does it without (act): gRPC may call
/// back from inside.
class InferStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  InferStream(GrpcContext& context, StreamOwner& owner, Nanos deadline)
      : context_(context), owner_(owner), deadline_(deadline) {}

  void begin() { act(choose()); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      return act(state_.with([](State& state) {
        state.reading = false;
        state.no_more = true;
        return choose(state);
      }));
    }
    StreamedInfer& infer = state_.with([this](State& state) -> StreamedInfer& {
      state.infers.push_back(std::make_unique<StreamedInfer>(context_, *this));
      return *state.infers.back();
    });
    infer.begin(incoming_, deadline_);
    act(state_.with([](State& state) {
      state.reading = false;
      return choose(state);
    }));
  }

  void OnWriteDone(bool ok) override {
    act(state_.with([ok](State& state) {
      state.writing = false;
      state.infers.pop_front();
      state.broken = state.broken || !ok;
      return choose(state);
    }));
  }

  void OnDone() override { owner_.ended(*this); }

  void answered(StreamedInfer& infer) {
    act(state_.with([&infer](State& state) {
      infer.answered = true;
      return choose(state);
    }));
  }

  /// Keeps the stream from finishing until end(); false where it has already.
  bool hold() {
    return state_.with([](State& state) {
      state.held = !state.finished;
      return state.held;
    });
  }
  void end() {
    act(state_.with([](State& state) {
      state.held = false;
      state.ending = true;
      return choose(state);
    }));
  }

 private:
  struct State {
    std::deque<std::unique_ptr<StreamedInfer>> infers{};  // in the order in which they came
    bool reading = false;                                 // from StartRead to OnReadDone
    bool starting_read = false;                           // somebody is about to call StartRead
    bool writing = false;
    bool no_more = false;  // the client has sent all
    bool broken = false;   // the client does not read any more
    bool held = false;
    bool ending = false;  // the server
    bool finished = false;
  };
  struct Step {
    bool read = false;
    StreamedInfer* write = nullptr;
    bool finish = false;
    bool ending = false;
  };

  static Step choose(State& state);
  Step choose() {
    return state_.with([](State& state) { return choose(state); });
  }
  /// Nothing of this may be touched after a step that finishes.
  void act(Step step);

  GrpcContext& context_;
  StreamOwner& owner_;
  const Nanos deadline_;
  grpc::ByteBuffer incoming_;
  Guarded<State> state_;
};

InferStream::Step InferStream::choose(State& state) {
  while (state.broken && !state.writing && !state.infers.empty() &&
         state.infers.front()->answered) {
    state.infers.pop_front();  // nobody reads it
  }
  Step step;
  if (!state.writing && !state.infers.empty() && state.infers.front()->answered) {
    state.writing = true;
    step.write = state.infers.front().get();
  }
  const bool may_read = !state.no_more && !state.ending && !state.broken;
  if (may_read && !state.reading && !state.starting_read &&
      state.infers.size() < GrpcStreams::kMaxUnanswered) {
    state.reading = true;
    state.starting_read = true;
    step.read = true;
  }
  // A read that the end of the server finds under way ends with the stream.
  const bool idle = state.infers.empty() && !state.writing && !state.starting_read && !state.held;
  if (idle && !may_read && !state.finished) {
    state.finished = true;
    step.finish = true;
    step.ending = state.ending && !state.no_more;
  }
  return step;
}

void InferStream::act(Step step) {
  if (step.write != nullptr) StartWrite(&step.write->answer);
  if (step.read) {
    incoming_.Clear();
    StartRead(&incoming_);
    return act(state_.with([](State& state) {
      state.starting_read = false;
      return choose(state);
    }));
  }
  if (step.finish) {
    Finish(step.ending ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down")
                       : grpc::Status::OK);
  }
}

void StreamedInfer::reply(const service::Reply& reply) {
  const std::string_view id = work_->request.id() ? std::string_view(*work_->request.id()) : "";
  if (!reply.status) return refuse(work_->request.model(), id, reply.status.error());
  const auto outputs = work_->request.answer(reply);
  if (!outputs) return refuse(work_->request.model(), id, outputs.error());
  answer = to_buffer(work_->writer.write(
      *outputs, work_->final_mark ? wire::GrpcAnswer::kStreamLast : wire::GrpcAnswer::kStream));
  end(work_->request.model(), 200);
}

void StreamedInfer::refuse(std::string_view model, std::string_view id, const Error& error) {
  answer = to_buffer(work_->writer.write_stream_error(error.message, id));
  end(model, wire::http_status(error.code));
}

void StreamedInfer::end(std::string_view model, int http_status) {
  context_.counters.add(model, http_status);
  context_.works.give_back(std::move(work_));
  stream_.answered(*this);
}

class OpenStreams final : public GrpcStreams, public StreamOwner {
 public:
  explicit OpenStreams(GrpcContext& context) : context_(context) {}

  Reactor* open(grpc::CallbackServerContext& call) override {
    auto made = std::make_unique<InferStream>(context_, *this, deadline_of(call, context_.clock));
    InferStream* const stream = made.get();
    const bool ending = open_.with([&](Open& open) {
      open.streams.push_back(std::move(made));
      return open.ending;
    });
    if (ending) {
      stream->end();
    } else {
      stream->begin();
    }
    return stream;
  }

  void end_all() override {
    std::vector<InferStream*> held;
    open_.with([&](Open& open) {
      open.ending = true;
      for (const auto& stream : open.streams) {
        if (stream->hold()) held.push_back(stream.get());
      }
    });
    for (InferStream* stream : held) stream->end();
  }

  void ended(InferStream& stream) override {
    std::unique_ptr<InferStream> last;  // destroyed without the lock
    open_.with([&](Open& open) {
      for (auto& each : open.streams) {
        if (each.get() != &stream) continue;
        last = std::move(each);
        each = std::move(open.streams.back());
        open.streams.pop_back();
        return;
      }
    });
  }

 private:
  struct Open {
    std::vector<std::unique_ptr<InferStream>> streams{};
    bool ending = false;
  };
  GrpcContext& context_;
  Guarded<Open> open_;
};

}  // namespace

std::unique_ptr<GrpcStreams> GrpcStreams::create(GrpcContext& context) {
  return std::make_unique<OpenStreams>(context);
}

}  // namespace corelane::serve
