#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "lane/tensor_ref.h"
#include "model/manifest.h"
#include "service/change_rules.h"
#include "service/stats.h"
#include "tensor/view.h"

namespace corelane::service {

struct NamedTensor {
  std::string name;
  lane::TensorRef tensor;
};

/// A request in the service's terms: its tensors are in the arena already.
struct Request {
  std::string model{};
  std::string version{};               // empty: the newest one
  std::vector<NamedTensor> inputs{};   // any order
  std::vector<std::string> outputs{};  // empty: all
  Nanos deadline = Nanos::max();       // by Clock::now()
  /// Keeps the tensors' memory until the request ends.
  std::vector<lane::ArenaBlock> storage{};
};

/// Where a request's time went.
struct Timing {
  Nanos accepted{};
  lane::BatchTiming worker{};
  std::uint32_t batch_rows = 0;  // rows of the batch it ran in, padding not counted
  lane::LaneId lane{};
};

struct OutputTensor {
  std::string_view name;
  tensor::TensorView tensor;
  std::span<const std::string> labels = {};  // of its classes; empty: none
};

/// Valid during the call of ReplySink::reply.
struct Reply {
  Status status{};
  const model::Manifest* version = nullptr;  // the one that answered
  std::span<const OutputTensor> outputs{};   // those asked for, in that order
  Timing timing{};
  Nanos retry_after{};  // with kUnavailable: when trying again makes sense; 0: not known
};

/// Gets a request's answer: exactly one call for each accepted request, from the thread that drives
/// the lane, or from inside submit() when the request is refused. Must not block; copies what it
/// needs.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void reply(const Reply& reply) = 0;
};

struct ServedModel {
  std::string name{};
  std::int64_t version = 0;
  std::string precision{};
  std::string stamp{};   // VersionToServe::stamp
  bool ready = false;    // at least one live lane serves it
  std::string reason{};  // why not
  std::string report{};  // what the engine says it loaded (JSON), from the first lane that has
};

/// A version that the service loads on every lane, in one precision.
struct VersionToServe {
  std::filesystem::path folder;  // models/<model>/<version>
  model::Manifest manifest;
  std::string precision;
  /// Same text: same content of the folder. Empty: not known, so each load is a new one.
  std::string stamp{};
};

/// A version that is not served: it is being loaded, or drains and is unloaded.
struct VersionInChange {
  enum class Doing { kLoading, kUnloading };
  std::string name{};
  std::int64_t version = 0;
  Doing doing = Doing::kLoading;
};

/// What the lanes gave back when a version went.
struct FreedVersion {
  std::string label{};  // "qa@3"
  std::vector<LaneMemory> lanes{};
};

struct ChangeReport {
  Status status{};
  std::vector<FreedVersion> freed{};
};

/// Called once when a change has ended, from a thread that drives a lane or from inside change().
/// Must not block.
using OnChanged = std::function<void(const ChangeReport&)>;

struct ServiceOptions {
  std::size_t queue_limit = 256;  // requests of one version that may wait
};

/// Models on lanes: checks requests, keeps them in a queue for each version, gives them to lanes as
/// these become free, and answers. Nothing waits while a lane is idle, nothing is tied to a lane
/// before the lane is free, and what a dying worker held is given to another.
///
/// Thread-safe, except that each lane is driven by one thread: it waits for the lane's event_fd()
/// and then calls drive(), which answers requests from there. run_lanes_on_thread() (lane_runner.h)
/// is such a thread for users without one.
///
/// Destroy it after the last drive() has returned; what was not answered by then never will be.
class Service {
 public:
  /// Asks all lanes of the pool to load all versions; models() tells how that went. The pool and
  /// the clock are borrowed. Fails where two versions share name and number or where a manifest
  /// cannot be served.
  static Result<std::unique_ptr<Service>> start(lane::LanePool& pool, const Clock& clock,
                                                std::vector<VersionToServe> versions,
                                                const ServiceOptions& options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Accepts the request, or refuses it through the sink at once: kNotFound, kInvalidArgument,
  /// kUnavailable (queue full, draining, no lane has loaded the version), kInternal (the same
  /// inputs have killed workers until their request was given up). Dispatches it before returning
  /// when a lane is idle. The sink is borrowed until its reply().
  void submit(Request request, ReplySink& sink);

  /// Handles all events of a lane. Call when its event_fd() is readable.
  void drive(lane::LaneId lane);

  /// Answers with kDeadlineExceeded what still waits at its deadline. Deadlines are kept as exactly
  /// as this is called, by any thread; it costs next to nothing while none has come.
  void expire();

  /// From when it ends well `model` is served by exactly these versions of it; none: not at all.
  /// Those that are served as they are wanted stay; the others are loaded beside what runs, and
  /// when every lane that lives has loaded them all, requests go to them from one moment on, what
  /// is no longer wanted answers what it had accepted, and is unloaded. When a lane fails to load
  /// one, nothing changes and the report says why (kInvalidArgument). `done` hears of loads as soon
  /// as they serve, of an unload (no versions) once the lanes have given the memory back. Reads
  /// label files; else does not block.
  void change(const std::string& model, std::vector<VersionToServe> versions, OnChanged done);

  /// The version that a request for `model` and `version` ("": the newest that is ready, or else
  /// the newest) would run on. kNotFound, kInvalidArgument.
  Result<std::shared_ptr<const model::Manifest>> find(std::string_view model,
                                                      std::string_view version) const;

  /// What is served, in the order of start().
  std::vector<ServedModel> models() const;
  /// What is on its way in or out.
  std::vector<VersionInChange> in_change() const;
  /// Every version is ready and drain() was not called.
  bool ready() const;
  /// Every lane has answered every load, well or badly, or has died so often that it won't.
  bool settled() const;

  /// From now on submit() refuses; what was accepted is still answered.
  void drain();
  /// Requests accepted and not answered.
  std::size_t unanswered() const;

  ServiceStats stats() const;

 private:
  class Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace corelane::service
