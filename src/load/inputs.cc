#include "load/inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "load/element.h"
#include "model/manifest.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::load {
namespace {

using model::Dim;
using model::Manifest;
using model::TensorSpec;

bool contains(const std::string& name, std::string_view part) {
  return std::search(name.begin(), name.end(), part.begin(), part.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != name.end();
}

/// Sizes of the named dimensions for the items of one request.
struct Items {
  std::int64_t count = 1;
  std::map<std::string, std::vector<std::int64_t>> sizes;  // by dimension, one for each item

  std::int64_t largest(const std::string& dimension) const {
    if (dimension == model::kBatch) return count;
    const auto& all = sizes.at(dimension);
    return *std::max_element(all.begin(), all.end());
  }
};

Items items_of(const InputPlan& plan, std::size_t request) {
  Items items{.count = plan.batch, .sizes = {}};
  for (const auto& [dimension, list] : plan.sizes) {
    std::vector<std::int64_t>& sizes = items.sizes[dimension];
    for (std::int64_t i = 0; i < plan.batch; ++i) {
      const std::size_t at =
          request * static_cast<std::size_t>(plan.batch) + static_cast<std::size_t>(i);
      sizes.push_back(list[at % list.size()]);
    }
  }
  return items;
}

/// After so many requests the lists begin again at their starts; 1 without lists.
std::size_t requests_in_a_round(const InputPlan& plan) {
  std::size_t round = 1;
  for (const auto& [dimension, list] : plan.sizes) {
    const std::size_t own =
        list.size() / std::gcd(list.size(), static_cast<std::size_t>(plan.batch));
    round = std::min(std::lcm(round, own), kMaxInputs);
  }
  return round;
}

Status check_size(const Manifest& manifest, const std::string& name, std::int64_t size) {
  const auto found = manifest.dimensions.find(name);
  if (found == manifest.dimensions.end()) {
    return {};
  }
  const model::Dimension& limits = found->second;
  if (size < limits.min || (limits.max > 0 && size > limits.max)) {
    return invalid_argument("model '" + manifest.name + "': " + name + " = " +
                            std::to_string(size) + " is outside " + std::to_string(limits.min) +
                            ".." + (limits.max > 0 ? std::to_string(limits.max) : "any"));
  }
  return {};
}

Status check_plan(const Manifest& manifest, const InputPlan& plan) {
  for (const TensorSpec& input : manifest.inputs) {
    for (const Dim& dim : input.shape) {
      const auto* name = std::get_if<std::string>(&dim);
      if (name != nullptr && *name != model::kBatch &&
          (!plan.sizes.contains(*name) || plan.sizes.at(*name).empty())) {
        return invalid_argument("model '" + manifest.name + "': dimension '" + *name +
                                "' of input '" + input.name + "' has no size: give [grid] " +
                                *name + " = [...]");
      }
    }
  }
  if (auto fits = check_size(manifest, std::string(model::kBatch), plan.batch); !fits) {
    return fits;
  }
  for (const auto& [name, sizes] : plan.sizes) {
    for (const std::int64_t size : sizes) {
      if (auto fits = check_size(manifest, name, size); !fits) return fits;
    }
  }
  for (const auto& [name, range] : plan.values) {
    const bool known = std::any_of(manifest.inputs.begin(), manifest.inputs.end(),
                                   [&](const TensorSpec& input) { return input.name == name; });
    if (!known) {
      return invalid_argument("model '" + manifest.name + "' has no input '" + name + "'");
    }
  }
  return {};
}

/// The axes of an input along which an item may be shorter than the tensor.
struct PaddedAxis {
  std::size_t axis = 0;
  const std::vector<std::int64_t>* sizes = nullptr;  // of the items
};

class TensorMaker {
 public:
  TensorMaker(const TensorSpec& spec, const Items& items, std::optional<ValueRange> asked,
              std::mt19937_64& random)
      : spec_(spec), items_(items), random_(random), rule_(sensible_range(spec)) {
    if (asked) {
      rule_ = {.normal = false, .range = *asked};
    }
  }

  Result<PreparedTensor> make() {
    std::vector<std::int64_t> dims;
    for (std::size_t axis = 0; axis < spec_.shape.size(); ++axis) {
      const Dim& dim = spec_.shape[axis];
      if (const auto* size = std::get_if<std::int64_t>(&dim)) {
        dims.push_back(*size);
        continue;
      }
      const std::string& name = std::get<std::string>(dim);
      dims.push_back(items_.largest(name));
      if (name == model::kBatch && axis == 0) {
        has_batch_ = true;
      } else if (name != model::kBatch) {
        padded_.push_back({.axis = axis, .sizes = &items_.sizes.at(name)});
      }
    }
    const auto shape = tensor::Shape::from(dims);
    const auto elements = shape ? shape->elements() : std::nullopt;
    if (!elements || static_cast<std::size_t>(*elements) > kMaxInputBytes) {
      return invalid_argument("input '" + spec_.name + "' would be too large");
    }
    PreparedTensor tensor{.name = spec_.name, .dtype = spec_.type, .shape = *shape, .bytes = {}};
    tensor.bytes.reserve(static_cast<std::size_t>(*elements) * tensor::size_of(spec_.type));
    for (std::int64_t element = 0; element < *elements; ++element) {
      append_element(tensor.bytes, spec_.type, inside(*shape, element) ? value() : spec_.pad);
    }
    return tensor;
  }

 private:
  bool inside(const tensor::Shape& shape, std::int64_t element) const {
    if (padded_.empty()) return true;
    std::int64_t item = 0;
    std::int64_t rest = element;
    std::array<std::int64_t, tensor::kMaxRank> index{};
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    item = has_batch_ ? index[0] : 0;
    return std::all_of(padded_.begin(), padded_.end(), [&](const PaddedAxis& padded) {
      // Without a batch all items are one: the largest size is everybody's.
      return !has_batch_ || index[padded.axis] < (*padded.sizes)[static_cast<std::size_t>(item)];
    });
  }

  double value() {
    if (rule_.normal) return normal_(random_);
    if (rule_.range.low == rule_.range.high) return rule_.range.low;
    if (is_integer(spec_.type)) {
      return static_cast<double>(std::uniform_int_distribution<std::int64_t>(
          static_cast<std::int64_t>(rule_.range.low),
          static_cast<std::int64_t>(rule_.range.high))(random_));
    }
    return std::uniform_real_distribution<double>(rule_.range.low, rule_.range.high)(random_);
  }

  const TensorSpec& spec_;
  const Items& items_;
  std::mt19937_64& random_;
  ValueRule rule_;
  std::normal_distribution<double> normal_;
  bool has_batch_ = false;
  std::vector<PaddedAxis> padded_;
};

Result<PreparedInput> make_input(const Manifest& manifest, const InputPlan& plan,
                                 std::size_t request, std::mt19937_64& random) {
  const Items items = items_of(plan, request);
  PreparedInput input{.items = plan.batch, .tensors = {}};
  for (const TensorSpec& spec : manifest.inputs) {
    const auto asked = plan.values.find(spec.name);
    auto tensor =
        TensorMaker(spec, items,
                    asked == plan.values.end() ? std::nullopt : std::optional(asked->second),
                    random)
            .make();
    if (!tensor) return in_context(std::move(tensor), "model '" + manifest.name + "'");
    input.tensors.push_back(*std::move(tensor));
  }
  return input;
}

std::size_t bytes_of(const PreparedInput& input) {
  return std::accumulate(
      input.tensors.begin(), input.tensors.end(), std::size_t{0},
      [](std::size_t sum, const PreparedTensor& tensor) { return sum + tensor.bytes.size(); });
}

}  // namespace

ValueRule sensible_range(const TensorSpec& input) {
  switch (input.type) {
    case tensor::DType::kFp16:
    case tensor::DType::kFp32:
    case tensor::DType::kFp64:
    case tensor::DType::kBf16:
      return {.normal = true, .range = {}};
    case tensor::DType::kBool:
      return {.range = {.low = 0, .high = 1}};
    case tensor::DType::kUint8:
      return {.range = {.low = 0, .high = 255}};
    case tensor::DType::kInt8:
      return {.range = {.low = -128, .high = 127}};
    case tensor::DType::kBytes:
      return {.range = {.low = 10'000, .high = 99'999}};
    default:
      break;
  }
  if (contains(input.name, "mask")) return {.range = {.low = 1, .high = 1}};
  if (contains(input.name, "type") || contains(input.name, "segment")) return {};
  if (contains(input.name, "id")) return {.range = {.low = 1, .high = 999}};
  return {.range = {.low = 0, .high = 9}};
}

Result<std::vector<PreparedInput>> make_inputs(const Manifest& manifest, const InputPlan& plan) {
  if (auto good = check_plan(manifest, plan); !good) {
    return std::move(good).error();
  }
  const std::size_t round = requests_in_a_round(plan);
  const bool fixed = round == 1;
  const std::size_t most = fixed ? kFixedInputs : round;
  const std::size_t most_bytes = fixed ? kFixedInputBytes : kMaxInputBytes;
  std::mt19937_64 random(plan.seed);
  std::vector<PreparedInput> inputs;
  std::size_t bytes = 0;
  do {
    auto input = make_input(manifest, plan, inputs.size(), random);
    if (!input) return std::move(input).error();
    bytes += bytes_of(*input);
    inputs.push_back(*std::move(input));
  } while (inputs.size() < most && bytes + bytes / inputs.size() <= most_bytes);
  return inputs;
}

}  // namespace corelane::load
