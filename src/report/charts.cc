#include "report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "price/catalogue.h"
#include "report/bar_charts.h"
#include "report/chart_parts.h"
#include "report/report.h"
#include "report/study.h"
#include "report/tables.h"
#include "report/words.h"

namespace corelane::report {
namespace {

constexpr int kWideHeight = 330;

/// How far beyond the fastest and the slowest point a latency axis goes: for the words beside them,
/// and for the points themselves.
constexpr double kRoomForWords = 1.35;
constexpr double kRoomForPoints = 1.1;

/// The lowest and the highest P95, and the limit.
Span p95_span(const Workload& workload, std::optional<double> limit, double margin) {
  const auto p95 = [](const Point& point) { return point.result.latency.p95; };
  const auto [low, high] = std::ranges::minmax_element(workload.points, {}, p95);
  return {.low = std::min(p95(*low), limit.value_or(p95(*low))) / margin,
          .high = std::max(p95(*high), limit.value_or(p95(*high))) * margin};
}

Json with_field(Json channel, const char* field) {
  channel["field"] = field;
  return channel;
}

/// The limit as a band from the axis to it, and its name.
std::vector<Json> limit_layers(double limit, double axis_low, const Json& x) {
  const Json data = {{"values", Json::array({{{"from", axis_low}, {"to", limit}}})}};
  const Json from = with_field(x, "from");
  const Json to = with_field(x, "to");
  return {{{"data", data},
           {"mark", {{"type", "rect"}, {"color", "var(--band)"}, {"opacity", 0.08}}},
           {"encoding", {{"x", from}, {"x2", {{"field", "to"}}}}}},
          {{"data", data},
           {"mark", {{"type", "rule"}, {"color", "var(--band)"}, {"strokeDash", {4, 3}}}},
           {"encoding", {{"x", to}}}},
          {{"data", data},
           {"mark",
            {{"type", "text"},
             {"align", "right"},
             {"dx", -6},
             {"fontWeight", 600},
             {"color", "var(--band)"}}},
           {"encoding",
            {{"x", to}, {"y", {{"value", 8}}}, {"text", {{"value", "limit " + millis(limit)}}}}}}};
}

/// Points that the answer speaks of. Start and knee have their word below, others above, so that
/// words of neighbours do not lie on each other.
Json marked_points(const Workload& workload, const Answer& answer) {
  Json marked = Json::array();
  for (std::size_t i = 0; i < workload.points.size(); ++i) {
    const auto roles = roles_of(answer, i);
    if (!roles.empty()) {
      Json point = point_values(workload, i);
      point["role"] = fmt::format("{}", fmt::join(roles, ", "));
      point["below"] = std::ranges::find(roles, "cheapest") == roles.end();
      marked.push_back(std::move(point));
    }
  }
  return marked;
}

std::vector<Json> mark_layers(const Json& marked, const Json& x, const Json& y) {
  const Json data = {{"values", marked}};
  std::vector<Json> layers = {{{"data", data},
                               {"mark",
                                {{"type", "point"},
                                 {"size", 210},
                                 {"strokeWidth", 2},
                                 {"filled", false},
                                 {"color", "var(--ink)"}}},
                               {"encoding", {{"x", x}, {"y", y}}}}};
  for (const bool below : {false, true}) {
    Json words = {
        {"data", data},
        {"transform", Json::array({{{"filter", {{"field", "below"}, {"equal", below}}}}})},
        {"mark", {{"type", "text"}, {"fontWeight", 600}, {"dy", below ? 21 : -19}}},
        {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "role"}, {"type", "nominal"}}}}}};
    Json halo =
        words;  // in the page's colour, so that a line behind the words does not strike them
    halo["mark"].update({{"stroke", "var(--page)"}, {"strokeWidth", 5}, {"strokeJoin", "round"}});
    words["mark"]["color"] = "var(--ink)";
    layers.push_back(std::move(halo));
    layers.push_back(std::move(words));
  }
  return layers;
}

Json curve_data(const Workload& workload) {
  const auto best = best_along(workload, axis_of(workload));
  Json values = Json::array();
  for (const std::size_t i : all_points(workload)) {
    values.push_back(point_values(workload, i));
    values.back()["best"] = std::ranges::find(best, i) != best.end();
  }
  return {{"values", std::move(values)}};
}

Chart curve_chart(const Report& report, std::size_t w) {
  const Workload& workload = report.study.workloads[w];
  const Span span = p95_span(workload, report.p95_limit, kRoomForWords);
  const Json x = p95_channel("P95 latency", span);
  const Json y = rate_channel();
  Json layers = Json::array();
  if (report.p95_limit) {
    layers = limit_layers(*report.p95_limit, span.low, x);
  }
  Json line = line_layer(workload, x, y);
  line["transform"] = Json::array({{{"filter", "datum.best"}}});
  layers.push_back(std::move(line));
  Json dots = dot_layer(workload, x, y);
  dots["encoding"]["opacity"] = {{"condition", {{"test", "datum.best"}, {"value", 1}}},
                                 {"value", 0.35}};
  layers.push_back(std::move(dots));
  for (const Json& layer : mark_layers(marked_points(workload, report.answers[w]), x, y)) {
    layers.push_back(layer);
  }
  Json spec = spec_of(std::move(layers), kWideHeight);
  spec["data"] = curve_data(workload);
  return {.id = fmt::format("curve-{}", w),
          .title = "Throughput against latency",
          .description =
              "Items per second up, P95 to the right: up and left is better. Lines join "
              "the best at each step; pale points wait longer or serve less.",
          .spec = spec.dump(),
          .wide = true};
}

struct Curve {
  const char* id;
  std::string title;
  std::string description;
  Json y;
};

Chart along_chart(const Report& report, std::size_t w, const Curve& curve) {
  const Workload& workload = report.study.workloads[w];
  const Axis axis = axis_of(workload);
  Json values = Json::array();
  for (const std::size_t i : best_along(workload, axis)) {
    values.push_back(point_values(workload, i));
  }
  const Json x = along_channel(axis);
  Json spec =
      spec_of(Json::array({line_layer(workload, x, curve.y), dot_layer(workload, x, curve.y)}),
              kSmallHeight);
  spec["data"] = {{"values", std::move(values)}};
  return {.id = fmt::format("{}-{}", curve.id, w),
          .title = curve.title +
                   (axis == Axis::kBatch ? " against batch size" : " against requests at a time"),
          .description = curve.description,
          .spec = spec.dump()};
}

}  // namespace

std::vector<Chart> charts_of(const Report& report, std::size_t w) {
  const Workload& workload = report.study.workloads[w];
  if (workload.points.empty()) {
    return {};
  }
  std::vector<Chart> charts = {curve_chart(report, w)};
  charts.push_back(along_chart(report, w,
                               {.id = "rate",
                                .title = "Throughput",
                                .description = "Items per second; higher is better.",
                                .y = rate_channel()}));
  charts.push_back(along_chart(report, w,
                               {.id = "latency",
                                .title = "Latency",
                                .description = "P95 of a request, on a logarithmic axis; lower is "
                                               "better.",
                                .y = p95_channel("", p95_span(workload, {}, kRoomForPoints))}));
  if (report.study.price) {
    charts.push_back(along_chart(report, w,
                                 {.id = "cost",
                                  .title = "Dollars per million inferences",
                                  .description = price::describe(*report.study.price),
                                  .y = usd_channel()}));
  }
  for (Chart& chart : precision_charts(workload, w)) {
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace corelane::report
