#include "service/digest.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "lane/tensor_ref.h"
#include "schedule/poison.h"
#include "service/job.h"
#include "service/served_version.h"
#include "service/validate.h"

namespace corelane::service {
namespace {

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::uint64_t input_bytes(const Job& job) {
  std::uint64_t bytes = 0;
  for (const lane::TensorRef& input : job.valid.inputs) bytes += input.bytes;
  return bytes;
}

schedule::InputDigest digest_of(const Job& job) {
  std::uint64_t hash = 0;
  const auto mix = [&](std::uint64_t value) {
    const std::uint64_t both[] = {hash, value};
    hash = hash_of(std::as_bytes(std::span(both)));
  };
  mix(static_cast<std::uint64_t>(job.version->slot));
  for (const lane::TensorRef& input : job.valid.inputs) {
    for (const std::int64_t size : input.shape.dims()) mix(static_cast<std::uint64_t>(size));
    mix(hash_of(bytes_of(job.request, input)));
  }
  return {.bytes = input_bytes(job), .hash = hash};
}

}  // namespace corelane::service
