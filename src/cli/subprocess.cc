#include "cli/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace corelane::cli {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close_now(); }
  int get() const { return fd_; }
  void close_now() {
    if (fd_ >= 0) {
      close(std::exchange(fd_, -1));
    }
  }

 private:
  int fd_;
};

/// Holds SIGINT and SIGTERM back from this thread as long as it lives; one that came is then lost
/// only if it was read from fd().
class HeldSignals {
 public:
  HeldSignals() : fd_(-1) {
    sigemptyset(&held_);
    sigaddset(&held_, SIGINT);
    sigaddset(&held_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
    fd_ = signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int fd() const { return fd_; }
  const sigset_t& before() const { return before_; }
  void take_one() const {
    signalfd_siginfo info;
    [[maybe_unused]] const ssize_t size = read(fd_, &info, sizeof info);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
  int fd_;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> with_our_environment(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;  // first, since the first of a name counts
  for (char** entry = environ; *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

/// Between fork and exec: only what may be called there.
[[noreturn]] void become(char* const* arguments, char* const* environment, int out,
                         const sigset_t& signals, pid_t parent) {
  setpgid(0, 0);  // Ctrl-C comes to us alone, and we pass it on as SIGTERM
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (getppid() == parent && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
    pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    execve(arguments[0], arguments, environment);
  }
  _exit(127);
}

/// Reads until the program closes its stdout. Returns how many signals were passed on.
int collect(pid_t pid, Fd& pipe, const HeldSignals& signals, std::string& out) {
  int interrupts = 0;
  std::array<char, 65536> buffer;
  for (;;) {
    std::array<pollfd, 2> waiting = {
        {{.fd = pipe.get(), .events = POLLIN}, {.fd = signals.fd(), .events = POLLIN}}};
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      continue;
    }
    if (waiting[1].revents != 0) {
      signals.take_one();
      kill(-pid, interrupts++ == 0 ? SIGTERM : SIGKILL);
    }
    if (waiting[0].revents != 0) {
      const ssize_t size = read(pipe.get(), buffer.data(), buffer.size());
      if (size <= 0) {
        return interrupts;
      }
      out.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<Finished> run_program(const Program& program) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = with_our_environment(program.environment);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  if (access(arguments.front().c_str(), X_OK) != 0) {
    return errno_error("running " + arguments.front(), errno);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return errno_error("making a pipe", errno);
  }
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const HeldSignals signals;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    return errno_error("starting " + arguments.front(), errno);
  }
  if (pid == 0) {
    become(argument_pointers.data(), environment_pointers.data(), writing.get(), signals.before(),
           parent);
  }
  setpgid(pid, pid);  // here too, so that it holds before a signal is passed on
  writing.close_now();
  Finished finished;
  const int interrupts = collect(pid, reading, signals, finished.out);
  finished.status = wait_for(pid);
  if (interrupts > 0) {
    return Error{ErrorCode::kCancelled, "interrupted"};
  }
  return finished;
}

}  // namespace corelane::cli
