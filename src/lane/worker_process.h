#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lane/shared_memory.h"
#include "lane/worker_options.h"

namespace corelane::lane {

/// A child process that is a worker. Move-only; destroying it leaves the process alone, so end it
/// before. Confined to the supervisor thread, whose death ends the process, too.
class WorkerProcess {
 public:
  /// Starts `executable worker ...` pinned to `cpus`, with thread-count variables set, before
  /// anything of it runs. Of the descriptors in `options` the child gets copies under other
  /// numbers, which it is told; of all others only stdin and stderr, which is its stdout, too.
  static Result<WorkerProcess> start(const std::filesystem::path& executable,
                                     std::span<const int> cpus, WorkerOptions options);

  int pid() const { return pid_; }
  /// Readable once the process has ended.
  int pidfd() const { return pidfd_.get(); }
  void send_signal(int signal) const;

  /// How it ended ("killed by signal 9", "ended with status 1"), once it has; reaps it then.
  std::optional<std::string> ended() const;

 private:
  int pid_ = 0;
  FileDescriptor pidfd_;
};

/// The parent's environment with the thread counts of the usual libraries set to `threads`.
std::vector<std::string> worker_environment(const char* const* parent, int threads);

}  // namespace corelane::lane
