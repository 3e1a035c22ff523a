// The engine without a framework: known answers and known faults on demand, for tests and for
// measuring what the server itself costs. What it can do stands in options.h.
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/engine_abi.h"
#include "engine/plugin.h"
#include "engine/plugin_report.h"
#include "engine/probe/behaviours.h"
#include "engine/probe/options.h"

namespace corelane::engine::probe {
namespace {

void sleep_for(Nanos time) {
  if (time <= Nanos::zero()) return;
  constexpr auto kSecond = Nanos(std::chrono::seconds(1)).count();
  timespec left{.tv_sec = time.count() / kSecond, .tv_nsec = time.count() % kSecond};
  while (nanosleep(&left, &left) != 0) {
  }
}

class Model {
 public:
  static Result<std::unique_ptr<Model>> load(const cl_load_options& load_options) {
    auto options = parse_options(load_options.options);
    if (!options) return std::move(options).error();
    if (options->behaviour == Behaviour::kFailLoad) {
      return internal_error("this model fails to load, as its options ask");
    }
    if (Status status = check_counts(*options, load_options); !status) return status.error();
    return std::unique_ptr<Model>(new Model(*options, load_options));
  }

  Status infer(const cl_tensor* inputs, cl_tensor* outputs) {
    if (options_.crash_on_value && has_value(inputs[0], *options_.crash_on_value)) std::abort();
    const std::int64_t rows = input_count_ > 0 && inputs[0].rank > 0 ? inputs[0].dims[0] : 1;
    sleep_for(options_.fixed + options_.per_item * rows);
    switch (options_.behaviour) {
      case Behaviour::kAdd:
        return add(inputs, outputs);
      case Behaviour::kSleep: {
        const auto time = seconds_in(inputs[0]);
        if (!time) return time.error();
        sleep_for(*time);
        return copy_inputs(inputs, outputs);
      }
      case Behaviour::kFail:
        return internal_error("this model fails, as its options ask");
      case Behaviour::kCrash:
        std::abort();
      case Behaviour::kHang:
        while (true) pause();
      case Behaviour::kNan:
        for (std::size_t k = 0; k < buffers_.size(); ++k) outputs[k] = not_numbers(buffers_[k]);
        return {};
      case Behaviour::kLarge:
        for (std::size_t k = 0; k < buffers_.size(); ++k) {
          outputs[k] = zeros(options_.bytes, buffers_[k]);
        }
        return {};
      default:
        return copy_inputs(inputs, outputs);
    }
  }

  const char* describe() {
    std::size_t bytes = 0;
    for (const Buffer& buffer : buffers_) bytes += buffer.capacity();
    report_ =
        report_json({.precision = {{precision_, 1}}, .threads = threads_, .memory_bytes = bytes});
    return report_.c_str();
  }

  static std::string explain(const std::exception& error) { return error.what(); }

 private:
  Model(const Options& options, const cl_load_options& load_options)
      : options_(options),
        precision_(load_options.precision),
        threads_(load_options.threads),
        input_count_(load_options.input_count),
        buffers_(load_options.output_count) {}

  static Status check_counts(const Options& options, const cl_load_options& load_options) {
    const auto inputs = load_options.input_count;
    const auto outputs = load_options.output_count;
    switch (options.behaviour) {
      case Behaviour::kIdentity:
        if (inputs != outputs) return invalid_argument("identity needs an output for each input");
        break;
      case Behaviour::kAdd:
        if (inputs != 2 || outputs != 1) return invalid_argument("add has two inputs, one output");
        break;
      case Behaviour::kSleep:
        if (inputs != 1 || outputs != 1) return invalid_argument("sleep has one input, one output");
        break;
      default:
        break;
    }
    if (options.crash_on_value && inputs == 0) {
      return invalid_argument("crash_on_value needs an input");
    }
    return {};
  }

  Status add(const cl_tensor* inputs, cl_tensor* outputs) {
    const auto sum = sum_of(inputs[0], inputs[1], buffers_[0]);
    if (!sum) return sum.error();
    outputs[0] = *sum;
    return {};
  }

  Status copy_inputs(const cl_tensor* inputs, cl_tensor* outputs) {
    for (std::size_t k = 0; k < buffers_.size(); ++k) outputs[k] = copy_of(inputs[k], buffers_[k]);
    return {};
  }

  Options options_;
  std::string precision_;
  int threads_;
  std::size_t input_count_;
  std::vector<Buffer> buffers_;  // one for each output
  std::string report_;
};

constexpr cl_engine kTable = Plugin<Model>::table("probe", "1");

}  // namespace
}  // namespace corelane::engine::probe

extern "C" const cl_engine* corelane_engine() { return &corelane::engine::probe::kTable; }
