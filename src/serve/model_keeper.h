#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "serve/model_source.h"
#include "service/service.h"
#include "wire/v2_repository.h"

namespace corelane::serve {

/// Changes what a service serves, as clients and the repository ask. Reads the repository on a
/// thread of its own; nothing here blocks its caller. Thread-safe. The service is borrowed.
///
/// Destroy it after the servers whose clients ask it.
class ModelKeeper {
 public:
  /// The answer's JSON. Called once, from any thread.
  using Done = std::function<void(const Result<std::string>& json)>;

  ModelKeeper(service::Service& service, ModelSource source);
  ~ModelKeeper();
  ModelKeeper(const ModelKeeper&) = delete;
  ModelKeeper& operator=(const ModelKeeper&) = delete;

  /// Serves the newest version of the model as the repository holds it now: answers once every
  /// lane has loaded it and requests go to it, or kInvalidArgument, and what ran runs on.
  void load(std::string model, Done done);
  /// Answers once all it had accepted is answered and the lanes have given the memory back:
  /// how much. kInvalidArgument where it is not served.
  void unload(std::string model, Done done);
  /// What is served and what else the repository holds.
  void index(bool only_ready, Done done);

  /// Reads the repository and loads, of the models that are served or were meant to be at the
  /// start, what has changed since and stayed as it is for one look. What failed is tried again
  /// when it changes again; what a client unloaded stays so.
  void look_for_changes();

 private:
  using Task = std::function<void()>;
  /// What is known of models besides what the service says. Confined to the thread, but `reasons`.
  struct Seen {
    std::string at_last_look;
    std::string tried;  // stamp of the last load asked for
  };
  using Reasons = std::map<std::string, std::string, std::less<>>;

  void post(Task task, const Done& done);
  void run();
  void load_now(const std::string& model, const Done& done);
  void unload_now(const std::string& model, const Done& done);
  std::vector<wire::RepositoryEntry> list() const;
  void look();
  void note(const std::string& model, std::string reason) {
    reasons_.with([&](Reasons& reasons) { reasons[model] = std::move(reason); });
  }

  service::Service& service_;
  ModelSource source_;
  std::map<std::string, Seen> seen_;
  Guarded<Reasons> reasons_;  // why a model is not served
  struct Work {
    std::deque<Task> tasks;
    bool stop = false;
  };
  Guarded<Work> work_;
  std::jthread thread_;  // last: ends before what it uses goes
};

}  // namespace corelane::serve
