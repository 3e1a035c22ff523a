#include "report/chart_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/result.h"
#include "report/study.h"
#include "report/words.h"

namespace corelane::report {
namespace {

// web/report.css has as many --p colours.
constexpr std::size_t kColours = 5;
constexpr std::array<const char*, 5> kShapes = {"circle", "square", "triangle-up", "diamond",
                                                "cross"};
const std::array<std::vector<int>, 5> kDashes = {
    std::vector<int>{1, 0}, {6, 4}, {2, 3}, {9, 3, 2, 3}, {12, 4}};

constexpr const char* kMillisLabel =
    "datum.value >= 1000 ? format(datum.value / 1000, '~r') + ' s' : format(datum.value, '~r') + ' "
    "ms'";

std::string precision_name(const bench::Experiment& e) {
  return e.precision.empty() ? "as served" : e.precision;
}

std::string series_name(const bench::Experiment& e) {
  return e.lanes.empty()
             ? precision_name(e)
             : fmt::format("{}, {} ({})", precision_name(e), lanes_in_words(e.lanes), e.lanes);
}

/// The position of `value` in `values`, put there first if it is new.
std::size_t position(std::vector<std::string>& values, const std::string& value) {
  const auto found = std::ranges::find(values, value);
  if (found != values.end()) {
    return static_cast<std::size_t>(found - values.begin());
  }
  values.push_back(value);
  return values.size() - 1;
}

/// Full and mixed have the same colour on every page, whatever else was measured.
std::size_t colour_of(std::vector<std::string>& precisions, const std::string& precision) {
  return position(precisions, precision) % kColours;
}

Json field(const char* name, const char* type) { return {{"field", name}, {"type", type}}; }

Json quantity(const char* name, const std::string& title) {
  Json channel = field(name, "quantitative");
  channel["axis"] = {{"title", title.empty() ? Json(nullptr) : Json(title)}};
  return channel;
}

Json tooltip() {
  Json rows = Json::array();
  for (const auto& [name, title] : {std::pair{"what", "Configuration"},
                                    {"rate_text", "Throughput"},
                                    {"p95_text", "P95"},
                                    {"usd_text", "Per million"}}) {
    Json row = field(name, "nominal");
    row["title"] = title;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// 1, 2, 5, 10, ... inside the span: a logarithmic axis with every digit is a thicket.
std::vector<double> ticks(const Span& span) {
  std::vector<double> values;
  for (double decade = std::pow(10, std::floor(std::log10(span.low))); decade <= span.high;
       decade *= 10) {
    for (const double digit : {1, 2, 5}) {
      if (digit * decade >= span.low && digit * decade <= span.high) {
        values.push_back(digit * decade);
      }
    }
  }
  return values;
}

}  // namespace

std::vector<SeriesLook> series_of(const Workload& workload) {
  std::vector<std::string> precisions = {"f32", "bf16", "int8"};
  std::vector<std::string> plans;
  std::vector<SeriesLook> looks;
  for (const Point& point : workload.points) {
    const bench::Experiment& e = point.result.experiment;
    const std::size_t colour = colour_of(precisions, precision_name(e));
    const std::size_t plan = position(plans, e.lanes);
    SeriesLook look{.name = series_name(e),
                    .colour = fmt::format("var(--p{})", colour),
                    .shape = kShapes[plan % kShapes.size()],
                    .dash = kDashes[plan % kDashes.size()]};
    if (std::ranges::find(looks, look.name, &SeriesLook::name) == looks.end()) {
      looks.push_back(std::move(look));
    }
  }
  return looks;
}

Json point_values(const Workload& workload, std::size_t index) {
  const Point& point = workload.points[index];
  const bench::ExperimentResult& r = point.result;
  return {{"id", r.id},
          {"series", series_name(r.experiment)},
          {"at", axis_value(axis_of(workload), r.experiment)},
          {"what", describe(r.experiment)},
          {"rate", r.items_per_second},
          {"p95", r.latency.p95},
          {"usd", point.per_million ? Json(point.per_million->value) : Json(nullptr)},
          {"rate_text", figure(r.items_per_second) + " items/s"},
          {"p95_text", millis(r.latency.p95)},
          {"usd_text", point.per_million ? usd(*point.per_million) : "no price given"}};
}

Json rate_channel() { return quantity("rate", ""); }

Json p95_channel(const std::string& title, const Span& span) {
  Json channel = quantity("p95", title);
  channel["scale"] = {{"type", "log"}, {"domain", {span.low, span.high}}, {"nice", false}};
  channel["axis"]["labelExpr"] = kMillisLabel;
  channel["axis"]["values"] = ticks(span);
  return channel;
}

Json usd_channel() {
  Json channel = quantity("usd", "");
  channel["axis"]["labelExpr"] = "'$' + format(datum.value, '~r')";
  return channel;
}

Json along_channel(Axis axis) {
  Json channel = field("at", "ordinal");
  channel["axis"] = {{"title", axis == Axis::kBatch ? "batch" : "requests at a time"},
                     {"labelAngle", 0},
                     {"grid", false}};
  return channel;
}

Json line_layer(const Workload& workload, const Json& x, const Json& y) {
  Json names = Json::array();
  Json colours = Json::array();
  Json dashes = Json::array();
  for (const SeriesLook& look : series_of(workload)) {
    names.push_back(look.name);
    colours.push_back(look.colour);
    dashes.push_back(look.dash);
  }
  Json colour = field("series", "nominal");
  colour["scale"] = {{"domain", names}, {"range", colours}};
  colour["legend"] = nullptr;
  Json dash = field("series", "nominal");
  dash["scale"] = {{"domain", names}, {"range", dashes}};
  dash["legend"] = nullptr;
  return {{"mark", {{"type", "line"}, {"strokeWidth", 2}}},
          {"encoding",
           {{"x", x},
            {"y", y},
            {"color", colour},
            {"strokeDash", dash},
            {"order", field("at", "quantitative")}}}};
}

Json dot_layer(const Workload& workload, const Json& x, const Json& y) {
  Json layer = line_layer(workload, x, y);
  Json names = Json::array();
  Json shapes = Json::array();
  for (const SeriesLook& look : series_of(workload)) {
    names.push_back(look.name);
    shapes.push_back(look.shape);
  }
  layer["mark"] = {
      {"type", "point"}, {"size", 62}, {"filled", true}, {"opacity", 1}, {"cursor", "pointer"}};
  layer["encoding"].erase("strokeDash");
  layer["encoding"].erase("order");
  layer["encoding"]["shape"] = field("series", "nominal");
  layer["encoding"]["shape"]["scale"] = {{"domain", names}, {"range", shapes}};
  layer["encoding"]["shape"]["legend"] = nullptr;
  layer["encoding"]["tooltip"] = tooltip();
  return layer;
}

Json spec_of(Json layers, int height) {
  const Json axis = {{"labelColor", "var(--muted)"},
                     {"titleColor", "var(--muted)"},
                     {"gridColor", "var(--line)"},
                     {"domain", false},
                     {"ticks", false},
                     {"labelPadding", 8},
                     {"titlePadding", 10},
                     {"titleFontWeight", "normal"},
                     {"labelFontSize", 12},
                     {"titleFontSize", 12}};
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"width", "container"},
          {"height", height},
          {"background", nullptr},
          {"autosize", {{"type", "fit"}, {"contains", "padding"}}},
          {"padding", {{"left", 0}, {"right", 4}, {"top", 6}, {"bottom", 6}}},
          {"config",
           {{"font", "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif"},
            {"view", {{"stroke", nullptr}}},
            {"axis", axis},
            {"text", {{"fontSize", 12.5}}}}},
          {"layer", std::move(layers)}};
}

}  // namespace corelane::report
