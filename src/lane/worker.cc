#include "lane/worker.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/channel.h"
#include "lane/channel_layout.h"
#include "lane/control_messages.h"
#include "lane/control_socket.h"
#include "lane/lane.h"
#include "lane/model_loader.h"
#include "lane/model_runner.h"
#include "lane/model_table.h"
#include "lane/process_memory.h"
#include "lane/shared_memory.h"
#include "lane/worker_options.h"

namespace corelane::lane {
namespace {

/// Everything that a worker's two threads share.
struct Worker {
  WorkerOptions options;
  const Clock& clock;
  ControlSocket control;
  Mapping channel;
  Mapping arena;
  Mapping outputs;
  WorkerEnd end;
  ModelTable models;
};

/// Signals for the whole group are the server's to act on, and a worker never outlives its server:
/// not when the server is killed in mid-batch, nor when it died before this line.
void stay_with(int parent) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
}

Result<std::unique_ptr<Worker>> open_worker(const WorkerOptions& options, const Clock& clock) {
  auto channel = Mapping::of(options.channel, Mapping::Access::kReadWrite);
  auto arena = Mapping::of(options.arena, Mapping::Access::kRead);
  auto outputs = Mapping::of(options.outputs, Mapping::Access::kReadWrite);
  for (Result<Mapping>* mapping : {&channel, &arena, &outputs}) {
    if (!*mapping) {
      return std::move(*mapping).error();
    }
  }
  auto layout = open_channel(channel->bytes());
  if (!layout) {
    return std::move(layout).error();
  }
  return std::unique_ptr<Worker>(
      new Worker{.options = options,
                 .clock = clock,
                 .control = ControlSocket(FileDescriptor(options.control)),
                 .channel = *std::move(channel),
                 .arena = *std::move(arena),
                 .outputs = *std::move(outputs),
                 .end = WorkerEnd(**layout, options.event, clock, options.spin),
                 .models = {}});
}

void run_batches(Worker& worker) {
  const std::size_t part = worker.outputs.bytes().size() / Lane::kDepth;
  while (const auto slot = worker.end.next()) {
    const Nanos received = worker.clock.now();
    const SubmissionSlot& submission = worker.end.submission(*slot);
    CompletionSlot& completion = worker.end.completion(*slot);
    for (std::int64_t& time : completion.timing) {
      time = received.count();
    }
    if (ModelRunner* model = worker.models.find(SlotId{submission.slot})) {
      model->run(submission, worker.arena.bytes(),
                 worker.outputs.bytes().subspan(*slot * part, part), worker.clock, completion);
    } else {
      write_error(completion, ErrorCode::kUnavailable, "the model is not loaded on this lane");
    }
    worker.end.complete(*slot);
  }
}

ModelLoaded load(Worker& worker, ModelLoader& loader, const LoadCommand& command) {
  const Nanos start = worker.clock.now();
  auto model = loader.load(command.spec);
  ModelLoaded loaded{.slot = command.slot, .status = {}, .report = "{}", .took = {}};
  if (model) {
    loaded.report = (*model)->report();
    worker.models.put(command.slot, *std::move(model));
  } else {
    loaded.status = std::move(model).error();
  }
  loaded.took = worker.clock.now() - start;
  return loaded;
}

/// Returns false when the worker is to stop.
bool obey(Worker& worker, ModelLoader& loader, const Command& command) {
  Report report = Ready{};
  if (const auto* wanted = std::get_if<LoadCommand>(&command)) {
    report = load(worker, loader, *wanted);
  } else if (const auto* unwanted = std::get_if<UnloadCommand>(&command)) {
    const Bytes before = own_memory();
    worker.models.remove(unwanted->slot);
    malloc_trim(0);
    report = ModelUnloaded{.slot = unwanted->slot, .before = before, .after = own_memory()};
  } else {
    return false;
  }
  // Where it cannot be sent the server has gone, and the next receive() says so.
  (void)worker.control.send(to_json(report), ControlSocket::Wait::kYes);
  return true;
}

/// The control thread. Ends the process when the server has gone, whatever the infer thread does.
void obey_server(Worker& worker) {
  ModelLoader loader(worker.options.engines, worker.options.threads);
  (void)worker.control.send(to_json(Report(Ready{})), ControlSocket::Wait::kYes);
  for (;;) {
    auto message = worker.control.receive(ControlSocket::Wait::kYes);
    if (!message || !*message) {
      _exit(1);
    }
    auto command = parse_command(**message);
    if (!command) {
      log(LogLevel::kError, "worker " + worker.options.lane + ": " + command.error().message);
      _exit(1);
    }
    if (!obey(worker, loader, *command)) {
      worker.end.stop();
      return;
    }
  }
}

}  // namespace

int run_worker(std::span<const std::string> arguments, const Clock& clock) {
  const auto options = parse_worker_arguments(arguments);
  if (!options) {
    log(LogLevel::kError, options.error().message);
    return 2;
  }
  stay_with(options->parent);
  auto worker = open_worker(*options, clock);
  if (!worker) {
    log(LogLevel::kError, "worker " + options->lane + ": " + worker.error().message);
    return 1;
  }
  std::jthread control(obey_server, std::ref(**worker));
  run_batches(**worker);
  control.join();
  // Frameworks' threads and static destructors are a usual place to crash, and nothing is left that
  // they could save.
  _exit(0);
}

}  // namespace corelane::lane
