// The reader of gRPC's infer requests: whatever the bytes, it answers with a request that keeps its
// promises or with an error.
#include "wire/grpc_infer.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "infer_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corelane::fuzz::CheckedMemory memory(size);
  corelane::wire::GrpcInferParser parser;
  const auto parsed = parser.parse(std::as_bytes(std::span(data, size)), memory);
  if (!parsed) {
    corelane::check(!parsed.error().message.empty(), "an error says something");
    return 0;
  }
  corelane::check(!parsed->model.empty(), "a request names its model");
  for (const auto& input : parsed->request.inputs) corelane::fuzz::check_input(input);
  return 0;
}
