#include "cli/open_file.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace corelane::cli {

Status open_file(const std::filesystem::path& file) {
  std::string opener = "xdg-open";
  std::string path = std::filesystem::absolute(file).string();
  std::array<char*, 3> arguments = {opener.data(), path.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, opener.c_str(), &quiet, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  if (failed != 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0) {
    return unavailable("no browser could be started here (xdg-open); open " + path + " yourself");
  }
  return {};
}

}  // namespace corelane::cli
