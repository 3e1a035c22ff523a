#include "bench/live_table.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/duration.h"
#include "base/result.h"
#include "base/units.h"
#include "bench/experiments.h"
#include "bench/result.h"
#include "bench/study_table.h"
#include "load/closed_loop.h"

namespace corelane::bench {
namespace {

constexpr Nanos kRedrawEvery = std::chrono::milliseconds(200);

}  // namespace

Nanos time_left(std::size_t left, std::size_t measured, Nanos spent, Nanos planned_each) {
  const Nanos each = measured > 0 ? spent / static_cast<Nanos::rep>(measured) : planned_each;
  return each * static_cast<Nanos::rep>(left);
}

LiveTable::LiveTable(const Screen& screen, const TableColumns& columns, std::size_t experiments,
                     Nanos planned_each, const Clock& clock)
    : screen_(screen),
      columns_(columns),
      experiments_(experiments),
      planned_each_(planned_each),
      clock_(clock),
      began_(clock.now()) {}

LiveTable::~LiveTable() { wipe_status(); }

void LiveTable::found(const ExperimentResult& result) {
  ++done_;
  print_row(table_row(result, columns_) + " (measured before)");
}

void LiveTable::running(const PlannedExperiment& planned, const load::Progress& progress) {
  if (!screen_.redraws) {
    if (announced_ != planned.id) {
      announced_ = planned.id;
      fmt::print(screen_.status, "{}: {}\n", place(), short_name(planned.experiment));
      std::fflush(screen_.status);
    }
    return;
  }
  if (status_drawn_ && clock_.now() - drawn_at_ < kRedrawEvery) return;
  draw_status(fmt::format(
      "{}: {}: {} {:.1f} s, {} answered{}", place(), short_name(planned.experiment),
      progress.warming_up ? "warming up" : "measuring", to_seconds(progress.elapsed),
      progress.answered, progress.failed > 0 ? fmt::format(", {} FAILED", progress.failed) : ""));
}

void LiveTable::measured(const ExperimentResult& result) {
  ++done_;
  ++measured_;
  print_row(table_row(result, columns_));
}

void LiveTable::failed(const PlannedExperiment& planned, const Error& error) {
  ++done_;
  ++measured_;
  wipe_status();
  fmt::print(screen_.status, "{}: not run: {}\n", short_name(planned.experiment), error.message);
}

void LiveTable::print_row(const std::string& row) {
  wipe_status();
  if (!head_printed_) {
    fmt::print(screen_.rows, "{}\n", table_head(columns_));
    head_printed_ = true;
  }
  fmt::print(screen_.rows, "{}\n", row);
  std::fflush(screen_.rows);
}

void LiveTable::draw_status(const std::string& text) {
  fmt::print(screen_.status, "\r\x1b[2K{}", text.substr(0, screen_.width - 1));
  std::fflush(screen_.status);
  status_drawn_ = true;
  drawn_at_ = clock_.now();
}

void LiveTable::wipe_status() {
  if (!status_drawn_) return;
  fmt::print(screen_.status, "\r\x1b[2K");
  std::fflush(screen_.status);
  status_drawn_ = false;
}

std::string LiveTable::place() const {
  const Nanos left =
      time_left(experiments_ - done_, measured_, clock_.now() - began_, planned_each_);
  return fmt::format("experiment {} of {}, about {} left", done_ + 1, experiments_, spoken(left));
}

}  // namespace corelane::bench
