#include "lane/worker_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lane/shared_memory.h"
#include "lane/worker_options.h"

namespace corelane::lane {
namespace {

constexpr std::array<std::string_view, 3> kThreadVariables = {
    "OMP_NUM_THREADS=", "MKL_NUM_THREADS=", "OPENBLAS_NUM_THREADS="};

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

constexpr int kMostCpus = 65536;

/// Pins this thread for as long as it lives; a process started meanwhile inherits that.
class ScopedPinning {
 public:
  static Result<std::unique_ptr<ScopedPinning>> to(std::span<const int> cpus) {
    auto pinning = std::make_unique<ScopedPinning>();
    const CpuSet wanted(CPU_ALLOC(kMostCpus));
    CPU_ZERO_S(kSize, wanted.get());
    for (const int cpu : cpus) {
      CPU_SET_S(static_cast<std::size_t>(cpu), kSize, wanted.get());
    }
    if (sched_getaffinity(0, kSize, pinning->before_.get()) != 0) {
      return errno_error("reading the supervisor's CPU affinity", errno);
    }
    if (sched_setaffinity(0, kSize, wanted.get()) != 0) {
      return errno_error("pinning a worker to its cores", errno);
    }
    return pinning;
  }
  ScopedPinning() : before_(CPU_ALLOC(kMostCpus)) {}
  ScopedPinning(const ScopedPinning&) = delete;
  ScopedPinning& operator=(const ScopedPinning&) = delete;
  ~ScopedPinning() { sched_setaffinity(0, kSize, before_.get()); }

 private:
  static constexpr std::size_t kSize = CPU_ALLOC_SIZE(kMostCpus);
  CpuSet before_;
};

/// posix_spawn's description of the child: which descriptors it gets, and that it starts with no
/// signal blocked or ignored.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// The child gets `fd` under the number that is returned.
  Result<int> pass(int fd) {
    // Copied above the numbers that the child gets, so that none is overwritten before it is
    // copied down.
    FileDescriptor copy(fcntl(fd, F_DUPFD_CLOEXEC, kFirst + 32));
    if (!copy.valid()) {
      return errno_error("copying a descriptor for a worker", errno);
    }
    posix_spawn_file_actions_adddup2(&actions_, copy.get(), next_);
    copies_.push_back(std::move(copy));
    return next_++;
  }

  Result<int> spawn(const std::filesystem::path& executable, std::vector<std::string>& arguments,
                    std::vector<std::string>& environment) {
    posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, next_);
    pid_t pid = 0;
    const int failed = posix_spawn(&pid, executable.c_str(), &actions_, &attributes_,
                                   pointers(arguments).data(), pointers(environment).data());
    if (failed != 0) {
      return errno_error("starting " + executable.string(), failed);
    }
    return pid;
  }

 private:
  static constexpr int kFirst = STDERR_FILENO + 1;

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& text : texts) {
      result.push_back(text.data());
    }
    result.push_back(nullptr);
    return result;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::vector<FileDescriptor> copies_;
  int next_ = kFirst;
};

}  // namespace

std::vector<std::string> worker_environment(const char* const* parent, int threads) {
  std::vector<std::string> environment;
  for (; *parent != nullptr; ++parent) {
    const std::string_view entry = *parent;
    if (std::ranges::none_of(kThreadVariables, [&](std::string_view variable) {
          return entry.starts_with(variable);
        })) {
      environment.emplace_back(entry);
    }
  }
  for (const std::string_view variable : kThreadVariables) {
    environment.push_back(std::string(variable) + std::to_string(threads));
  }
  return environment;
}

Result<WorkerProcess> WorkerProcess::start(const std::filesystem::path& executable,
                                           std::span<const int> cpus, WorkerOptions options) {
  SpawnPlan plan;
  for (int* fd :
       {&options.control, &options.channel, &options.arena, &options.outputs, &options.event}) {
    const auto number = plan.pass(*fd);
    if (!number) {
      return number.error();
    }
    *fd = *number;
  }
  options.parent = getpid();
  std::vector<std::string> arguments = to_arguments(options);
  arguments.insert(arguments.begin(), {executable.string(), "worker"});
  std::vector<std::string> environment = worker_environment(::environ, options.threads);

  auto pinning = ScopedPinning::to(cpus);
  if (!pinning) {
    return std::move(pinning).error();
  }
  const auto pid = plan.spawn(executable, arguments, environment);
  if (!pid) {
    return pid.error();
  }
  WorkerProcess process;
  process.pid_ = *pid;
  // By number: the C library of Debian 12 declares its wrappers for C only.
  process.pidfd_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!process.pidfd_.valid()) {
    const int error = errno;
    kill(*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
    return errno_error("opening a pidfd of a worker", error);
  }
  return process;
}

void WorkerProcess::send_signal(int signal) const {
  syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

std::optional<std::string> WorkerProcess::ended() const {
  siginfo_t how{};
  constexpr int kEndOnly = WEXITED | WNOHANG;  // NOLINT(misc-include-cleaner): of <sys/wait.h>
  if (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &how, kEndOnly) != 0) {
    return "lost: " + errno_error("waiting for it", errno).message;
  }
  if (how.si_pid == 0) {
    return std::nullopt;
  }
  const std::string value = std::to_string(how.si_status);
  return how.si_code == CLD_EXITED ? "ended with status " + value : "killed by signal " + value;
}

}  // namespace corelane::lane
