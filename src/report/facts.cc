#include "report/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/result.h"
#include "price/catalogue.h"
#include "report/report.h"
#include "report/study.h"
#include "report/table.h"
#include "report/tables.h"
#include "report/words.h"

namespace corelane::report {
namespace {

std::string machine_words(const bench::Machine& machine) {
  std::string words =
      fmt::format("{}, {} core{}", machine.cpu.empty() ? "unknown CPU" : machine.cpu, machine.cores,
                  machine.cores == 1 ? "" : "s");
  if (machine.cpu_quota > 0) {
    words += fmt::format(" (quota {:.3g})", machine.cpu_quota);
  }
  if (machine.memory_bytes > 0) {
    words += ", " + size({machine.memory_bytes});
  }
  if (!machine.governor.empty()) {
    words += ", governor " + machine.governor;
  }
  return machine.kernel.empty() ? words : words + ", Linux " + machine.kernel;
}

std::string version_words(const bench::Machine& machine) {
  std::vector<std::string> words;
  for (const auto& [name, version] : machine.versions) {
    words.push_back(name + " " + version);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string price_words(const price::Price& price) {
  std::string words = price::describe(price) + "; source: " + price.source;
  return price.note.empty() ? words : words + "; " + price.note;
}

std::string measured_words(const Study& study) {
  std::size_t valid = 0;
  std::size_t invalid = 0;
  for (const Workload& workload : study.workloads) {
    valid += workload.points.size();
    invalid += workload.invalid.size();
  }
  std::string words = fmt::format("{} configurations, {}", valid, study.first_started);
  if (study.last_started != study.first_started) {
    words += " to " + study.last_started;
  }
  return invalid == 0
             ? words
             : words + fmt::format("; {} more {} not count", invalid, invalid == 1 ? "does" : "do");
}

void add(std::vector<Fact>& facts, std::string name, std::string text) {
  if (!text.empty()) {
    facts.push_back({.name = std::move(name), .text = std::move(text)});
  }
}

void add_study(std::vector<Fact>& facts, const Study& study) {
  add(facts, "study", fmt::format("{}", fmt::join(study.names, ", ")));
  add(facts, "machine", machine_words(study.machine));
  add(facts, "flags", fmt::format("{}", fmt::join(study.machine.cpu_flags, " ")));
  add(facts, "versions", version_words(study.machine));
  add(facts, "measured", measured_words(study));
  add(facts, "price", study.price ? price_words(*study.price) : "none");
}

}  // namespace

std::vector<Fact> facts_of(const Report& report) {
  std::vector<Fact> facts;
  add_study(facts, report.study);
  if (report.against) {
    std::vector<Fact> other;
    add_study(other, *report.against);
    for (Fact& fact : other) {
      facts.push_back({.name = "there: " + fact.name, .text = std::move(fact.text)});
    }
  }
  for (const std::string& note : report.notes) {
    add(facts, "note", note);
  }
  add(facts, "again", report.command);
  return facts;
}

std::vector<Table> side_tables(const Report& report) {
  std::vector<Table> tables;
  if (report.against) {
    tables.push_back(comparison_table(report.study, *report.against));
  }
  tables.push_back(precision_table(report.study));
  tables.push_back(not_counted_table(report.study));
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return tables;
}

}  // namespace corelane::report
