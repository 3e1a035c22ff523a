#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "base/clock.h"
#include "bench/runner.h"
#include "bench/study_table.h"

namespace corelane::bench {

/// Where a study is shown. Streams are borrowed.
struct Screen {
  std::FILE* rows = nullptr;    // the table: results
  std::FILE* status = nullptr;  // what is going on
  bool redraws = false;         // status is a terminal: one line, drawn again and again
  std::size_t width = 80;       // of that terminal
};

/// How long a study still takes: what is left times what one experiment took so far, or was
/// planned to take. Pure.
Nanos time_left(std::size_t left, std::size_t measured, Nanos spent, Nanos planned_each);

/// Prints each result as a row when it is there, and where the study is.
class LiveTable final : public StudyWatcher {
 public:
  LiveTable(const Screen& screen, const TableColumns& columns, std::size_t experiments,
            Nanos planned_each, const Clock& clock);
  ~LiveTable() override;
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  void found(const ExperimentResult& result) override;
  void running(const PlannedExperiment& planned, const load::Progress& progress) override;
  void measured(const ExperimentResult& result) override;
  void failed(const PlannedExperiment& planned, const Error& error) override;

 private:
  void print_row(const std::string& row);
  void draw_status(const std::string& text);
  void wipe_status();
  std::string place() const;

  Screen screen_;
  TableColumns columns_;
  std::size_t experiments_;
  Nanos planned_each_;
  const Clock& clock_;
  std::size_t done_ = 0;      // found, measured or failed
  std::size_t measured_ = 0;  // or failed
  Nanos began_{};
  Nanos drawn_at_{};
  bool head_printed_ = false;
  bool status_drawn_ = false;
  std::string announced_;  // id of the experiment that a line was printed for
};

}  // namespace corelane::bench
