#include "report/bar_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/chart_parts.h"
#include "report/charts.h"
#include "report/report.h"
#include "report/study.h"
#include "report/tables.h"
#include "report/words.h"

namespace corelane::report {
namespace {

constexpr int kBarHeight = 52;
constexpr int kRoomForAxes = 80;

/// The parts of a request's time in the order they happen; parts that others report come after.
constexpr std::array<const char*, 4> kParts = {"queue", "gather", "compute", "write"};
constexpr std::array<const char*, 4> kPartColours = {"var(--t1)", "var(--t3)", "var(--t0)",
                                                     "var(--t2)"};

Json nominal(const char* name) { return {{"field", name}, {"type", "nominal"}}; }

Json pair_values(const std::vector<PrecisionPair>& pairs) {
  Json values = Json::array();
  for (const PrecisionPair& pair : pairs) {
    values.push_back({{"batch", pair.batch},
                      {"precision", pair.precision},
                      {"ratio", pair.times_cheaper},
                      {"text", fmt::format("{:.2f}", pair.times_cheaper)},
                      {"words", fmt::format("{}, batch {}", pair.precision, pair.batch)}});
  }
  return values;
}

/// Where a bar stands: batch, beside it the other precisions, and how much cheaper.
Json bar_place() {
  return {{"x",
           {{"field", "batch"},
            {"type", "ordinal"},
            {"sort", nullptr},
            {"axis", {{"title", "batch"}, {"labelAngle", 0}, {"grid", false}}},
            {"scale", {{"paddingInner", 0.45}, {"paddingOuter", 0.3}}}}},
          {"xOffset", {{"field", "precision"}, {"sort", nullptr}}},
          {"y", {{"field", "ratio"}, {"type", "quantitative"}, {"axis", {{"title", nullptr}}}}}};
}

void add_split(Json& values, const std::string& name, const Point& point) {
  double total = 0;
  for (const auto& [part, distribution] : point.result.split) {
    total += distribution.mean;
  }
  for (const auto& [part, distribution] : point.result.split) {
    const auto place = std::ranges::find(kParts, part) - kParts.begin();
    values.push_back({{"what", name},
                      {"part", part},
                      {"place", place},
                      {"ms", distribution.mean},
                      {"text", fmt::format("{}, {}", millis(distribution.mean),
                                           percent(total > 0 ? distribution.mean / total : 0))},
                      {"configuration", describe(point.result.experiment)}});
  }
}

/// The split of what to choose, for each workload that has one.
Json split_values(const Report& report) {
  Json values = Json::array();
  for (std::size_t w = 0; w < report.study.workloads.size(); ++w) {
    const Workload& workload = report.study.workloads[w];
    if (const auto& choice = report.answers[w].choice) {
      add_split(values, title_of(workload), workload.points[choice->chosen]);
    }
  }
  return values;
}

Json split_bars(const Json& y) {
  const Json x = {
      {"field", "ms"},
      {"type", "quantitative"},
      {"stack", "normalize"},
      {"axis", {{"title", "share of a request's time"}, {"format", ".0%"}, {"tickCount", 5}}}};
  Json colour = nominal("part");
  colour["scale"] = {{"domain", kParts}, {"range", kPartColours}};
  colour["legend"] = {
      {"orient", "top"}, {"title", nullptr}, {"labelColor", "var(--ink)"}, {"labelFontSize", 13}};
  const Json tooltip = Json::array({{{"field", "part"}, {"title", "Part"}},
                                    {{"field", "text"}, {"title", "Mean"}},
                                    {{"field", "configuration"}, {"title", "Of"}}});
  return {{"mark", {{"type", "bar"}}},
          {"encoding",
           {{"y", y},
            {"x", x},
            {"order", {{"field", "place"}, {"type", "quantitative"}}},
            {"color", colour},
            {"tooltip", tooltip}}}};
}

/// The workloads' names above their bars: beside them they would take half of a narrow page.
Json bar_names(const Json& y) {
  const Json count = {{"op", "count"}, {"as", "parts"}};
  return {
      {"transform", Json::array({{{"aggregate", Json::array({count})}, {"groupby", {"what"}}}})},
      {"mark",
       {{"type", "text"},
        {"align", "left"},
        {"dy", -19},
        {"fontSize", 13},
        {"color", "var(--ink)"}}},
      {"encoding", {{"y", y}, {"x", {{"value", 0}}}, {"text", nominal("what")}}}};
}

}  // namespace

std::vector<Chart> precision_charts(const Workload& workload, std::size_t number) {
  const auto pairs = precision_pairs(workload);
  if (pairs.empty()) {
    return {};
  }
  Json bars = {{"mark", {{"type", "bar"}, {"cornerRadiusEnd", 3}}}, {"encoding", bar_place()}};
  bars["encoding"]["color"] = nominal("precision");
  bars["encoding"]["color"]["scale"] = {{"domain", {"bf16", "int8", "f16"}},
                                        {"range", {"var(--p1)", "var(--p2)", "var(--p3)"}}};
  bars["encoding"]["color"]["legend"] = nullptr;
  bars["encoding"]["tooltip"] =
      Json::array({{{"field", "words"}, {"title", "Configuration"}},
                   {{"field", "text"}, {"title", "Times cheaper than f32"}}});
  Json labels = {{"mark", {{"type", "text"}, {"dy", -8}, {"color", "var(--ink)"}}},
                 {"encoding", bar_place()}};
  labels["encoding"]["text"] = nominal("text");
  const Json one = {{"mark", {{"type", "rule"}, {"color", "var(--ink)"}, {"strokeDash", {4, 3}}}},
                    {"encoding", {{"y", {{"datum", 1}}}}}};
  Json spec = spec_of(Json::array({bars, labels, one}), kSmallHeight);
  spec["data"] = {{"values", pair_values(pairs)}};
  return {{.id = fmt::format("precision-{}", number),
           .title = "Full against mixed precision",
           .description = "How many times cheaper than f32 at the same batch; the line is f32.",
           .spec = spec.dump()}};
}

std::vector<Chart> split_charts(const Report& report) {
  Json values = split_values(report);
  if (values.empty()) {
    return {};
  }
  Json y = nominal("what");
  y["sort"] = nullptr;
  y["axis"] = nullptr;
  y["scale"] = {{"paddingInner", 0.6}, {"paddingOuter", 0.5}};
  const int bars = static_cast<int>(report.study.workloads.size());
  Json spec = spec_of(Json::array({split_bars(y), bar_names(y)}), bars * kBarHeight + kRoomForAxes);
  spec["data"] = {{"values", std::move(values)}};
  return {{.id = "split",
           .title = "Where the time goes",
           .description = "Parts of a request's time in the configuration to choose.",
           .spec = spec.dump(),
           .wide = true}};
}

}  // namespace corelane::report
