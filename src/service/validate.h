#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "lane/tensor_ref.h"
#include "schedule/cost.h"
#include "service/service.h"
#include "service/signature.h"

namespace corelane::service {

/// A request that keeps all rules of its version.
struct Validated {
  std::vector<lane::TensorRef> inputs;  // in the manifest's order
  std::vector<std::uint32_t> outputs;   // those asked for, as indices into the manifest's
  std::int64_t rows = 1;
  schedule::Sizes sizes = schedule::unit_sizes();
};

/// A tensor's bytes in the request's storage, where they must lie.
std::span<const std::byte> bytes_of(const Request& request, const lane::TensorRef& tensor);

/// The one validator, whatever the request came by. Checks names, datatypes, rank, every dimension,
/// that inputs agree on the dimensions they share, and that the bytes are those that shape and
/// datatype say, BYTES elements one by one. kInvalidArgument names the input, the rule and the
/// value:
///
///     input 'input_ids': shape [1,600] exceeds tokens <= 512 of qa@3
///
/// Promise of the caller: every tensor lies within one block of request.storage.
Result<Validated> validate(const Request& request, const Signature& signature);

}  // namespace corelane::service
