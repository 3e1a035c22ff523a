// The plain OpenVINO loop that a careful user writes first: what corelane's lanes are compared
// with.
//
//   openvino_loop MODEL.xml --batch 8 --tokens 128 --seconds 10 --threads 2 [--streams 1]
//                 [--precision f32|bf16] [--warmup 2] [--json]
//
// Every stream has its own thread and infer request, with inputs made once (random, fixed seed).
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <openvino/openvino.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace {

using corelane::from_seconds;
using corelane::Nanos;
using corelane::SystemClock;
using corelane::to_seconds;

struct Options {
  std::string model;
  std::string precision = "f32";
  std::int64_t batch = 8;
  std::int64_t tokens = 128;
  int threads = 1;
  int streams = 1;
  double seconds = 10;
  double warmup = 2;
  bool json = false;
};

/// The first dimension that varies is the batch, the others are the tokens.
ov::Shape shape_of(const ov::PartialShape& partial, const Options& options) {
  ov::Shape shape;
  for (const ov::Dimension& dimension : partial) {
    const std::int64_t wanted = shape.empty() ? options.batch : options.tokens;
    shape.push_back(dimension.is_static() ? dimension.get_length() : wanted);
  }
  return shape;
}

/// Numbers as such models take them: a mask of ones, segment 0, ids below 1000, or normal floats.
ov::Tensor input_for(const ov::Output<const ov::Node>& port, const Options& options) {
  ov::Tensor tensor(port.get_element_type(), shape_of(port.get_partial_shape(), options));
  std::mt19937 random(7);
  const std::string name = port.get_any_name();
  if (tensor.get_element_type() == ov::element::i64) {
    std::uniform_int_distribution<std::int64_t> ids(0, 999);
    auto* data = tensor.data<std::int64_t>();
    for (std::size_t k = 0; k < tensor.get_size(); ++k) {
      if (name.find("mask") != std::string::npos) {
        data[k] = 1;
      } else {
        data[k] = name.find("type") != std::string::npos ? 0 : ids(random);
      }
    }
  } else if (tensor.get_element_type() == ov::element::f32) {
    std::normal_distribution<float> normal;
    auto* data = tensor.data<float>();
    for (std::size_t k = 0; k < tensor.get_size(); ++k) data[k] = normal(random);
  } else {
    OPENVINO_THROW("input ", name, ": only INT64 and FP32 inputs are filled here");
  }
  return tensor;
}

/// Items per second of one stream, from the end of the warm-up to the end of the last counted run.
double rate_of(ov::InferRequest request, const Options& options) {
  const SystemClock clock;
  const Nanos warm = clock.now() + from_seconds(options.warmup);
  do request.infer();
  while (clock.now() < warm);
  const Nanos begin = clock.now();
  const Nanos end = begin + from_seconds(options.seconds);
  std::int64_t items = 0;
  Nanos now{};
  do {
    request.infer();
    items += options.batch;
    now = clock.now();
  } while (now < end);
  return static_cast<double>(items) / to_seconds(now - begin);
}

double items_per_second(ov::CompiledModel& compiled, const Options& options) {
  std::vector<ov::Tensor> inputs;
  for (const auto& port : compiled.inputs()) inputs.push_back(input_for(port, options));
  std::vector<double> rates(static_cast<std::size_t>(options.streams));
  std::vector<std::jthread> threads;
  for (double& rate : rates) {
    ov::InferRequest request = compiled.create_infer_request();
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      request.set_input_tensor(input, inputs[input]);
    }
    threads.emplace_back([&, request] { rate = rate_of(request, options); });
  }
  threads.clear();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

void run(const Options& options) {
  ov::Core core;
  auto compiled = core.compile_model(
      options.model, "CPU", ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
      ov::num_streams(options.streams), ov::inference_num_threads(options.threads),
      ov::hint::inference_precision(options.precision == "bf16" ? ov::element::bf16
                                                                : ov::element::f32));
  const double rate = items_per_second(compiled, options);
  std::printf(options.json ? "{\"items_per_second\": %.4f}\n" : "%.2f items/s\n", rate);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A plain OpenVINO loop");
  app.add_option("model", options.model, "IR (.xml) or .onnx")->required();
  app.add_option("--precision", options.precision)->check(CLI::IsMember({"f32", "bf16"}));
  app.add_option("--batch", options.batch)->check(CLI::Range(1, 4096));
  app.add_option("--tokens", options.tokens)->check(CLI::Range(1, 65536));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 1024));
  app.add_option("--streams", options.streams)->check(CLI::Range(1, 1024));
  app.add_option("--seconds", options.seconds)->check(CLI::Range(0.01, 3600.0));
  app.add_option("--warmup", options.warmup)->check(CLI::Range(0.0, 600.0));
  app.add_flag("--json", options.json);
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "openvino_loop: %s\n", error.what());
    return 1;
  }
}
