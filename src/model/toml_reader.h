#pragma once

// lint: heavy because the tables it reads are toml++'s own; only readers of TOML include this
#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Brings toml++ along, so only sources that parse a file of ours include it.

namespace corelane::model {

/// The first problem found while a file is read. Reading goes on with harmless values afterwards,
/// so that the code that reads needs no branch for each field.
class Problem {
 public:
  explicit Problem(std::string where) : where_(std::move(where)) {}

  /// "where:line: message"; the later of two problems is dropped.
  void report(std::uint32_t line, const std::string& message);
  bool found() const { return first_.has_value(); }
  Error error() const { return *first_; }

 private:
  std::string where_;
  std::optional<Error> first_;
};

/// Reads the fields of one table and reports what is missing, of the wrong type or unknown.
/// Borrows the table and the problem.
class Fields {
 public:
  /// `what` begins every message: "input 'x'"; empty for the file itself.
  Fields(const toml::table& table, std::string what, Problem& problem)
      : table_(table), what_(std::move(what)), problem_(problem) {}

  std::string required_text(std::string_view key);
  std::string text(std::string_view key, std::string otherwise = "");
  std::int64_t integer(std::string_view key, std::int64_t otherwise);
  double number(std::string_view key, double otherwise);
  bool boolean(std::string_view key, bool otherwise);
  std::vector<std::int64_t> integers(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  /// nullptr where there is none.
  const toml::table* table(std::string_view key);
  const toml::array* array(std::string_view key);
  /// The tables of [[key]], empty where there are none.
  std::vector<const toml::table*> tables(std::string_view key);

  /// The caller reads this field by itself.
  void known(std::string_view key) { known_.emplace(key); }

  /// Call when all fields have been asked for: reports one that nobody asked for.
  void no_others();

  /// A rule of this table that does not hold, at the line of the field `key` if it is there.
  void broken(std::string_view key, const std::string& rule);

  std::uint32_t line() const { return table_.source().begin.line; }

 private:
  const toml::node* find(std::string_view key);
  void wrong_type(const toml::node& node, std::string_view key, std::string_view expected);

  const toml::table& table_;
  std::string what_;
  Problem& problem_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace corelane::model
