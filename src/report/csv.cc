#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result.h"
#include "price/catalogue.h"
#include "report/report.h"
#include "report/sinks.h"
#include "report/study.h"
#include "report/tables.h"

namespace corelane::report {
namespace {

constexpr std::string_view kColumns =
    "side,id,study,model,version,shape,target,load,engine,precision,batch,lanes,concurrency,"
    "items_per_second,items_per_second_low,items_per_second_high,"
    "mean_ms,p50_ms,p90_ms,p95_ms,p99_ms,max_ms,"
    "usd_per_million,usd_per_hour,instance,basis,region,price_date,"
    "lane_busy,memory_bytes,sent,ok,failed,unfinished,started_at,valid,role,invalid_because\n";

/// RFC 4180: quoted where it must be.
std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + "\"";
}

std::string shape_words(const std::map<std::string, std::string>& shape) {
  std::vector<std::string> words;
  for (const auto& [dimension, value] : shape) {
    words.push_back(dimension + "=" + value);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void append_experiment(std::vector<std::string>& cells, const bench::ExperimentResult& r) {
  const bench::Experiment& e = r.experiment;
  cells.insert(cells.end(), {r.id, e.study, e.model, std::to_string(e.version),
                             shape_words(e.shape), e.target, e.load, e.engine, e.precision,
                             std::to_string(e.batch), e.lanes, std::to_string(e.concurrency)});
}

void append_figures(std::vector<std::string>& cells, const bench::ExperimentResult& r) {
  const bool interval_known = r.items_per_second_high > r.items_per_second_low;
  const auto limit = [&](double value) { return interval_known ? fmt::format("{}", value) : ""; };
  cells.push_back(fmt::format("{}", r.items_per_second));
  cells.push_back(limit(r.items_per_second_low));
  cells.push_back(limit(r.items_per_second_high));
  for (const double value : {r.latency.mean, r.latency.p50, r.latency.p90, r.latency.p95,
                             r.latency.p99, r.latency.max}) {
    cells.push_back(fmt::format("{}", value));
  }
}

void append_price(std::vector<std::string>& cells, const Point& point,
                  const std::optional<price::Price>& price) {
  if (!price) {
    cells.insert(cells.end(), 6, "");
    return;
  }
  cells.insert(cells.end(), {fmt::format("{:.6g}", point.per_million.value_or(Usd{}).value),
                             fmt::format("{}", price->per_hour.value), price->instance,
                             price->basis, price->region, price->date});
}

void append_run(std::vector<std::string>& cells, const bench::ExperimentResult& r) {
  cells.insert(cells.end(), {fmt::format("{}", r.lane_busy), std::to_string(r.memory_bytes),
                             std::to_string(r.counts.sent), std::to_string(r.counts.ok),
                             std::to_string(r.counts.failed), std::to_string(r.counts.unfinished),
                             r.started_at, r.valid ? "true" : "false"});
}

std::string line(std::string_view side, const Point& point, const Study& study,
                 const std::vector<std::string>& roles) {
  std::vector<std::string> cells = {std::string(side)};
  append_experiment(cells, point.result);
  append_figures(cells, point.result);
  append_price(cells, point, study.price);
  append_run(cells, point.result);
  cells.push_back(fmt::format("{}", fmt::join(roles, " ")));
  cells.push_back(fmt::format("{}", fmt::join(point.result.invalid_because, "; ")));
  std::string out;
  for (const std::string& cell : cells) {
    out += (out.empty() ? "" : ",") + csv_cell(cell);
  }
  return out + "\n";
}

std::string lines(std::string_view side, const Study& study, const std::vector<Answer>& answers) {
  std::string out;
  for (std::size_t w = 0; w < study.workloads.size(); ++w) {
    const Workload& workload = study.workloads[w];
    for (std::size_t p = 0; p < workload.points.size(); ++p) {
      const auto roles = w < answers.size() ? roles_of(answers[w], p) : std::vector<std::string>();
      out += line(side, workload.points[p], study, roles);
    }
    for (const Point& point : workload.invalid) {
      out += line(side, point, study, {});
    }
  }
  return out;
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string out(kColumns);
  out += lines("here", report.study, report.answers);
  if (report.against) {
    out += lines("there", *report.against, {});
  }
  return out;
}

}  // namespace corelane::report
