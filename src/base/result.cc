#include "base/result.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace corelane {

Error errno_error(std::string doing, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {code, std::move(doing) + ": " + std::generic_category().message(error_number)};
}

}  // namespace corelane
