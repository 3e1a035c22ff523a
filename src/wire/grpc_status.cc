#include "wire/grpc_status.h"

#include "base/result.h"

namespace corelane::wire {

int grpc_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled:
      return 1;
    case ErrorCode::kInvalidArgument:
      return 3;
    case ErrorCode::kNotFound:
      return 5;
    case ErrorCode::kAlreadyExists:
      return 6;
    case ErrorCode::kUnsupported:
      return 12;  // UNIMPLEMENTED
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:  // in the queue; a client's own deadline ends its call there
    case ErrorCode::kResourceExhausted:
      return 14;
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return 13;
  }
  return 13;
}

}  // namespace corelane::wire
