#pragma once

#include <string>
#include <utility>
#include <variant>

namespace corelane {

/// What kind of thing went wrong. General on purpose: the detail is in the message. The tables that
/// turn a code into an exit status and into an HTTP status stand in cli/ and wire/.
enum class ErrorCode {
  kInvalidArgument,    // the caller's input breaks a rule
  kNotFound,           // what was named does not exist
  kAlreadyExists,      // what was to be made exists
  kUnsupported,        // a correct wish that this build, machine or engine cannot fulfil
  kUnavailable,        // not now: starting, draining, queue full; trying again may work
  kDeadlineExceeded,   // too late
  kCancelled,          // the caller has gone or has interrupted
  kResourceExhausted,  // memory, disk, descriptors
  kIo,                 // a file, a socket or a process failed
  kInternal,           // an engine or another process broke its promise
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // what, where, what to do; no trailing full stop or newline
};

/// A value or the reason why there is none. Named after std::expected, so that it can be replaced
/// by it.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  bool has_value() const { return state_.index() == 0; }

  /// Precondition of value access: has_value().
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  /// Precondition: !has_value().
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)
      : error_(std::move(error)), failed_(true) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return !failed_; }
  bool has_value() const { return !failed_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Result<void>;

/// The error of a failed result with what was being done put in front: "serving models/qa: ...".
template <typename T>
Error in_context(Result<T>&& failed, std::string doing) {
  Error error = std::move(failed).error();
  error.message = std::move(doing) + ": " + error.message;
  return error;
}

inline Error invalid_argument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error not_found(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }
inline Error unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message)};
}
inline Error unavailable(std::string message) {
  return {ErrorCode::kUnavailable, std::move(message)};
}
inline Error io_error(std::string message) { return {ErrorCode::kIo, std::move(message)}; }
inline Error internal_error(std::string message) {
  return {ErrorCode::kInternal, std::move(message)};
}

/// io_error with errno's text: "opening /x: No such file or directory". ENOENT becomes kNotFound.
Error errno_error(std::string doing, int error_number);

}  // namespace corelane
