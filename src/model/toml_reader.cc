#include "model/toml_reader.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/suggest.h"

namespace corelane::model {

void Problem::report(std::uint32_t line, const std::string& message) {
  if (!first_) {
    first_ = invalid_argument(fmt::format("{}:{}: {}", where_, line, message));
  }
}

const toml::node* Fields::find(std::string_view key) {
  known_.emplace(key);
  return table_.get(key);
}

void Fields::broken(std::string_view key, const std::string& rule) {
  const toml::node* node = table_.get(key);
  const std::string_view separator = what_.empty() ? "" : ": ";
  problem_.report(node != nullptr ? node->source().begin.line : line(),
                  fmt::format("{}{}{}", what_, separator, rule));
}

void Fields::wrong_type(const toml::node& node, std::string_view key, std::string_view expected) {
  const std::string_view separator = what_.empty() ? "" : ": ";
  problem_.report(node.source().begin.line,
                  fmt::format("{}{}{} must be {}", what_, separator, key, expected));
}

std::string Fields::required_text(std::string_view key) {
  std::string value = text(key);
  if (table_.get(key) == nullptr) {
    broken(key, fmt::format("{} is missing", key));
  } else if (value.empty()) {
    broken(key, fmt::format("{} must not be empty", key));
  }
  return value;
}

std::string Fields::text(std::string_view key, std::string otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return otherwise;
  }
  if (const toml::value<std::string>* value = node->as_string()) {
    return value->get();
  }
  wrong_type(*node, key, "a string");
  return otherwise;
}

std::int64_t Fields::integer(std::string_view key, std::int64_t otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return otherwise;
  }
  if (const toml::value<std::int64_t>* value = node->as_integer()) {
    return value->get();
  }
  wrong_type(*node, key, "an integer");
  return otherwise;
}

double Fields::number(std::string_view key, double otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return otherwise;
  }
  if (const std::optional<double> value = node->value<double>(); value && node->is_number()) {
    return *value;
  }
  wrong_type(*node, key, "a number");
  return otherwise;
}

bool Fields::boolean(std::string_view key, bool otherwise) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return otherwise;
  }
  if (const toml::value<bool>* value = node->as_boolean()) {
    return value->get();
  }
  wrong_type(*node, key, "true or false");
  return otherwise;
}

const toml::table* Fields::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_table()) {
    wrong_type(*node, key, "a table");
    return nullptr;
  }
  return node == nullptr ? nullptr : node->as_table();
}

const toml::array* Fields::array(std::string_view key) {
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_array()) {
    wrong_type(*node, key, "a list");
    return nullptr;
  }
  return node == nullptr ? nullptr : node->as_array();
}

std::vector<std::int64_t> Fields::integers(std::string_view key) {
  std::vector<std::int64_t> values;
  if (const toml::array* list = array(key)) {
    for (const toml::node& node : *list) {
      if (const toml::value<std::int64_t>* value = node.as_integer()) {
        values.push_back(value->get());
      } else {
        wrong_type(node, key, "a list of integers");
      }
    }
  }
  return values;
}

std::vector<std::string> Fields::texts(std::string_view key) {
  std::vector<std::string> values;
  if (const toml::array* list = array(key)) {
    for (const toml::node& node : *list) {
      if (const toml::value<std::string>* value = node.as_string()) {
        values.push_back(value->get());
      } else {
        wrong_type(node, key, "a list of strings");
      }
    }
  }
  return values;
}

std::vector<const toml::table*> Fields::tables(std::string_view key) {
  std::vector<const toml::table*> values;
  if (const toml::array* list = array(key)) {
    for (const toml::node& node : *list) {
      if (const toml::table* value = node.as_table()) {
        values.push_back(value);
      } else {
        wrong_type(node, key, "a list of tables");
      }
    }
  }
  return values;
}

void Fields::no_others() {
  for (const auto& [key, node] : table_) {
    if (!known_.contains(key.str())) {
      const std::vector<std::string> known(known_.begin(), known_.end());
      broken(key.str(),
             fmt::format("unknown field '{}'{}", key.str(), did_you_mean(key.str(), known)));
    }
  }
}

}  // namespace corelane::model
