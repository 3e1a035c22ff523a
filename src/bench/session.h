#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/experiments.h"
#include "load/target.h"

namespace corelane::bench {

/// What is known of the thing that is measured once it runs.
struct SessionFacts {
  std::string engine_report;                    // JSON of the engine; "" without
  std::map<std::string, std::string> versions;  // of engines or of the server
  std::uint64_t memory_bytes = 0;               // at this moment; 0: not known
  std::int64_t lanes = 0;                       // 0: not known
  bool on_this_machine = true;                  // it shares its cores with the load generator
};

/// The clients of one experiment; what they borrow (inputs) lives with them.
class Clients {
 public:
  virtual ~Clients() = default;
  virtual std::vector<load::Target*> targets() = 0;
};

/// Something that runs and can be measured again and again with other loads: lanes with one model
/// loaded, or a server. Used by the thread that runs the study.
class Session {
 public:
  virtual ~Session() = default;
  /// Makes inputs and clients; the session must outlive them.
  virtual Result<std::unique_ptr<Clients>> clients(const PlannedExperiment& planned) = 0;
  virtual SessionFacts facts() const = 0;
};

/// Starts sessions: the lanes of this machine, or a fake.
class SessionOpener {
 public:
  virtual ~SessionOpener() = default;
  /// For experiments of which same_session() says that they share one. Only one is open at a time.
  virtual Result<std::unique_ptr<Session>> open(const Experiment& experiment) = 0;
};

}  // namespace corelane::bench
