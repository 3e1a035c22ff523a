#include "report/sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "bench/result.h"
#include "report/choice.h"
#include "report/curve.h"
#include "report/report.h"
#include "report/study.h"
#include "report/words.h"

namespace corelane::report {
namespace {

/// "bf16 at batch 8 on 2 lanes of 1 core", and how many requests where that is not one a lane.
std::string configuration(const Point& point) {
  const bench::Experiment& e = point.result.experiment;
  const auto lanes = 1 + std::ranges::count(e.lanes, '|');
  std::string words =
      fmt::format("{} at batch {} on {}", e.precision.empty() ? "as served" : e.precision, e.batch,
                  lanes_in_words(e.lanes));
  if (e.lanes.empty() || e.concurrency != lanes) {
    words += fmt::format(", {} request{} at a time", e.concurrency, e.concurrency == 1 ? "" : "s");
  }
  return words;
}

std::string per_million(const Point& point) {
  return point.per_million ? fmt::format(", {} per million", usd(*point.per_million)) : "";
}

/// "18.3 items/s, P95 441 ms, $1.35 per million".
std::string figures(const Point& point) {
  return fmt::format("{} items/s, P95 {}{}", figure(point.result.items_per_second),
                     millis(point.result.latency.p95), per_million(point));
}

bool about_equal(double ratio) { return std::abs(ratio - 1) < kNoise; }

/// "2.1 times cheaper than where one starts (f32, batch 1: $3.23 per million)".
std::string against_start(const Point& point, const Point& start) {
  if (&point == &start) {
    return "which is also where one starts";
  }
  const bench::Experiment& e = start.result.experiment;
  const std::string from =
      fmt::format("where one starts ({}, batch {}: {})",
                  e.precision.empty() ? "as served" : e.precision, e.batch,
                  start.per_million ? usd(*start.per_million) + " per million"
                                    : figure(start.result.items_per_second) + " items/s");
  const double ratio = times_cheaper(point, start);
  if (about_equal(ratio)) {
    return "which costs the same as " + from;
  }
  return ratio > 1 ? fmt::format("{} cheaper than {}", times(ratio), from)
                   : fmt::format("{} dearer than {}", times(1 / ratio), from);
}

std::string cheapest_sentence(const Workload& workload, const Choice& choice) {
  const Point& point = workload.points[choice.cheapest];
  return fmt::format("On this machine {} is cheapest in {}: {}; {}.", title_of(workload),
                     configuration(point), figures(point),
                     against_start(point, workload.points[choice.start]));
}

/// "4 % more items per second for 3.8 times the P95".
std::string trade(const Point& from, const Point& to) {
  const double gain = times_cheaper(to, from) - 1;
  const double wait = to.result.latency.p95 / from.result.latency.p95;
  return fmt::format("{} more items per second for {} the P95", percent(gain), times(wait));
}

Answer at_the_knee(const Workload& workload, Choice choice) {
  Answer answer{.choice = choice, .sentence = cheapest_sentence(workload, choice), .why = {}};
  const Point& knee = workload.points[choice.knee];
  const Point& cheapest = workload.points[choice.cheapest];
  if (choice.knee == choice.cheapest) {
    answer.why =
        "Choose it: it is the knee of the curve too, nothing faster comes near its throughput.";
  } else {
    constexpr double kLittle = 1.3;
    const bool little = times_cheaper(cheapest, knee) < kLittle;
    answer.why = fmt::format(
        "Unless latency does not matter choose the knee of the curve, {}: {}. Beyond it the "
        "cheapest "
        "gives {}{}.",
        configuration(knee), figures(knee), little ? "only " : "", trade(knee, cheapest));
  }
  return answer;
}

Answer inside_limit(const Workload& workload, Choice choice, double limit) {
  const Point& chosen = workload.points[choice.chosen];
  const Point& cheapest = workload.points[choice.cheapest];
  Answer answer{.choice = choice, .sentence = {}, .why = {}};
  answer.sentence =
      fmt::format("Within P95 {} {} is cheapest on this machine in {}: {}; {}.", millis(limit),
                  title_of(workload), configuration(chosen), figures(chosen),
                  against_start(chosen, workload.points[choice.start]));
  answer.why = fmt::format(
      "Choose it: of {} configurations {} are inside the limit, and it serves "
      "the most of them.",
      workload.points.size(), choice.inside);
  if (choice.chosen == choice.cheapest) {
    answer.why += " The limit costs nothing: no slower configuration is cheaper.";
  } else {
    answer.why += fmt::format(" Without the limit {} would give {}: {}.", configuration(cheapest),
                              trade(chosen, cheapest), figures(cheapest));
  }
  return answer;
}

Answer outside_limit(const Workload& workload, Choice choice, double limit) {
  const Point& fastest = workload.points[choice.chosen];
  return {
      .choice = choice,
      .sentence = fmt::format("No configuration of {} holds P95 {} on this machine: the nearest "
                              "is {} with P95 {}.",
                              title_of(workload), millis(limit), configuration(fastest),
                              millis(fastest.result.latency.p95)),
      .why = fmt::format("A shorter input, a smaller model, a lower precision or more cores for "
                         "one lane make it faster. {}",
                         cheapest_sentence(workload, choice))};
}

}  // namespace

Answer answer_for(const Workload& workload, std::optional<double> p95_limit) {
  const auto choice = choose(workload, p95_limit);
  if (!choice) {
    return {.choice = std::nullopt,
            .sentence = fmt::format("Nothing can be said about {}: none of its {} measurements is "
                                    "valid.",
                                    title_of(workload), workload.invalid.size()),
            .why = "The reasons stand with the measurements that do not count."};
  }
  switch (choice->reason) {
    case ChoiceReason::kKnee:
      return at_the_knee(workload, *choice);
    case ChoiceReason::kCheapestInLimit:
      return inside_limit(workload, *choice, *p95_limit);
    case ChoiceReason::kNothingInLimit:
      return outside_limit(workload, *choice, *p95_limit);
  }
  return {};
}

}  // namespace corelane::report
