#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "lane/arena.h"
#include "load/inputs.h"
#include "load/target.h"
#include "service/service.h"

namespace corelane::load {

/// Which of a load's clients a target is: client `index` of `count` takes the prepared inputs
/// index, index + count, ..., so that together the clients go through them in order.
struct ClientPlace {
  std::size_t index = 0;
  std::size_t count = 1;
};
std::size_t input_of_turn(const ClientPlace& place, std::uint64_t turn, std::size_t inputs);

/// Inputs that lie in the arena for as long as this lives: every request on them reads the same
/// memory. Immutable, so shared by all clients.
class ArenaInputs {
 public:
  struct Input {
    std::int64_t items = 1;
    std::vector<service::NamedTensor> tensors;
    bool has_texts = false;
  };

  /// kResourceExhausted where the arena is too small. The arena is borrowed.
  static Result<std::unique_ptr<ArenaInputs>> place(lane::Arena& arena,
                                                    std::span<const PreparedInput> inputs);

  std::span<const Input> inputs() const { return inputs_; }
  /// A copy of an input's tensors in a block of its own. The service looks into elements of any
  /// length through the request's storage, so requests with texts bring one.
  Result<lane::ArenaBlock> copy(const Input& input,
                                std::vector<service::NamedTensor>& tensors) const;

 private:
  explicit ArenaInputs(lane::Arena& arena) : arena_(arena) {}

  lane::Arena& arena_;
  std::vector<lane::ArenaBlock> blocks_;
  std::vector<Input> inputs_;
};

/// A client of the lanes without a network: submits to the service and sleeps until the answer.
/// Borrows service and inputs.
class LanesTarget final : public Target, private service::ReplySink {
 public:
  struct Model {
    std::string name;
    std::string version;
  };
  LanesTarget(service::Service& service, const ArenaInputs& inputs, Model model, ClientPlace place);

  Result<Answer> send(std::uint64_t turn) override;

 private:
  void reply(const service::Reply& reply) override;

  service::Service& service_;
  const ArenaInputs& inputs_;
  Model model_;
  ClientPlace place_;
  // Written by the thread that drives the lanes before answered_ is released, read after.
  Status status_;
  service::Timing timing_;
  std::binary_semaphore answered_{0};
};

/// A request's split from the service's timing; `items` are its own rows.
Split split_of(const service::Timing& timing, std::int64_t items);

}  // namespace corelane::load
