#include "bench/verdict.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "load/window.h"

namespace corelane::bench {
namespace {

constexpr double kBusiestClient = 0.5;
constexpr double kLargestShareOfMachine = 1.0 / 3;
constexpr double kLargestDrift = 0.10;

}  // namespace

std::vector<std::string> reasons_against(const load::Measurement& measured,
                                         const VerdictContext& context) {
  std::vector<std::string> reasons;
  if (measured.counts.ok < context.min_requests) {
    reasons.push_back(fmt::format("only {} requests were answered in the window, {} were asked for",
                                  measured.counts.ok, context.min_requests));
  }
  if (measured.counts.failed > 0) {
    reasons.push_back(fmt::format("{} of {} requests failed, the first with: {}",
                                  measured.counts.failed, measured.counts.sent,
                                  context.first_error));
  }
  const double client = context.generator_cores / static_cast<double>(context.concurrency);
  if (client > kBusiestClient) {
    reasons.push_back(
        fmt::format("the load generator was the limit: its threads were busy {:.0f} % of the time",
                    100 * client));
  }
  if (context.machine_cores > 0 &&
      context.generator_cores > kLargestShareOfMachine * context.machine_cores) {
    reasons.push_back(
        fmt::format("the load generator took {:.2f} of {:g} cores from what it measured",
                    context.generator_cores, context.machine_cores));
  }
  const auto drift = measured.items_per_second.drift;
  if (drift && std::abs(*drift) > kLargestDrift) {
    reasons.push_back(fmt::format("the second half of the window was {:.0f} % {} than the first",
                                  100 * std::abs(*drift), *drift > 0 ? "faster" : "slower"));
  }
  return reasons;
}

}  // namespace corelane::bench
