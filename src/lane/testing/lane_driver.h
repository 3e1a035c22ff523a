#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "lane/tensor_ref.h"

namespace corelane::lane {

/// Waits until `fd` is readable. False when it is not within `limit`.
bool wait_readable(int fd, Nanos limit);

/// A lane's next event, waited for. nullopt when none comes within `limit`.
std::optional<LaneEvent> wait_event(Lane& lane, Nanos limit);

/// The next event of kind T; others are dropped. nullopt when none comes within `limit` each.
template <typename T>
std::optional<T> wait_for(Lane& lane, Nanos limit) {
  while (auto event = wait_event(lane, limit)) {
    if (auto* wanted = std::get_if<T>(&*event)) {
      return std::move(*wanted);
    }
  }
  return std::nullopt;
}

/// A tensor in the arena with its memory.
struct PlacedTensor {
  ArenaBlock memory;
  TensorRef ref;
};

template <typename T>
PlacedTensor place(Arena& arena, tensor::DType type, const tensor::Shape& shape,
                   std::span<const T> elements) {
  auto memory = arena.allocate(elements.size_bytes());
  std::ranges::copy(std::as_bytes(elements), memory->bytes().begin());
  PlacedTensor placed{.memory = *std::move(memory), .ref = {}};
  placed.ref = {.dtype = type,
                .shape = shape,
                .offset = placed.memory.offset(),
                .bytes = elements.size_bytes()};
  return placed;
}

template <typename T>
std::vector<T> elements_of(const tensor::TensorView& view) {
  std::vector<T> elements(view.bytes.size() / sizeof(T));
  std::ranges::copy(view.bytes, std::as_writable_bytes(std::span(elements)).begin());
  return elements;
}

}  // namespace corelane::lane
