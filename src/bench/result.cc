#include "bench/result.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stats/distribution.h"

namespace corelane::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Visits fields and appends them to a JSON object.
class Writer {
 public:
  template <typename T>
  void field(const char* name, const T& value) {
    object_[name] = value;
  }
  /// A text that is itself a JSON object.
  void json(const char* name, const std::string& text) {
    const Json value = Json::parse(text, nullptr, false);
    object_[name] = value.is_object() ? value : Json(nullptr);
  }
  template <typename Visit>
  void object(const char* name, Visit visit) {
    Writer inner;
    visit(inner);
    object_[name] = std::move(inner.object_);
  }
  template <typename T, typename Visit>
  void table(const char* name, const std::map<std::string, T>& values, Visit visit) {
    Json all = Json::object();
    for (const auto& [key, value] : values) {
      Writer inner;
      visit(inner, value);
      all[key] = std::move(inner.object_);
    }
    object_[name] = std::move(all);
  }
  Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

/// Visits fields and fills them from a JSON object; keeps the first fault and changes nothing after
/// it.
class Reader {
 public:
  Reader(const Json& object, std::string path, std::string& fault)
      : object_(object), path_(std::move(path)), fault_(fault) {
    if (!object.is_object()) {
      refuse(path_.empty() ? "the document" : path_, "must be an object");
    }
  }

  template <typename T>
  void field(const char* name, T& value) {
    const Json* found = find(name);
    if (found != nullptr && !assign(*found, value)) {
      refuse(path_ + name, std::string("must be ") + kind_of(value));
    }
  }
  void json(const char* name, std::string& text) {
    const Json* found = find(name);
    if (found == nullptr) {
      return;
    }
    if (found->is_object()) {
      text = found->dump();
    } else if (!found->is_null()) {
      refuse(path_ + name, "must be an object or null");
    }
  }
  template <typename Visit>
  void object(const char* name, Visit visit) {
    if (const Json* found = find(name)) {
      Reader inner(*found, path_ + name + ".", fault_);
      visit(inner);
    }
  }
  template <typename T, typename Visit>
  void table(const char* name, std::map<std::string, T>& values, Visit visit) {
    const Json* found = find(name);
    if (found == nullptr) {
      return;
    }
    if (!found->is_object()) {
      return refuse(path_ + name, "must be an object");
    }
    for (const auto& [key, value] : found->items()) {
      Reader inner(value, path_ + name + "." + key + ".", fault_);
      visit(inner, values[key]);
    }
  }

 private:
  void refuse(const std::string& what, const std::string& why) {
    if (fault_.empty()) {
      fault_ = what + " " + why;
    }
  }

  const Json* find(const char* name) {
    if (!fault_.empty()) {
      return nullptr;
    }
    const auto found = object_.find(name);
    if (found == object_.end()) {
      refuse(path_ + name, "is missing");
      return nullptr;
    }
    return &*found;
  }

  template <typename T>
  static bool assign(const Json& json, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return false;
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (!json.is_number_unsigned()) return false;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      if (!json.is_number_integer()) return false;
    } else if constexpr (std::is_same_v<T, double>) {
      if (!json.is_number()) return false;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) return false;
    } else {
      if (json.is_array() != std::is_same_v<T, std::vector<std::string>>) return false;
      if (!json.is_structured()) return false;
      for (const Json& each : json) {
        if (!each.is_string()) return false;
      }
    }
    value = json.get<T>();
    return true;
  }

  static const char* kind_of(bool) { return "true or false"; }
  static const char* kind_of(double) { return "a number"; }
  static const char* kind_of(std::int64_t) { return "an integer"; }
  static const char* kind_of(std::uint64_t) { return "an integer, not negative"; }
  static const char* kind_of(const std::string&) { return "a string"; }
  static const char* kind_of(const std::vector<std::string>&) { return "an array of strings"; }
  static const char* kind_of(const std::map<std::string, std::string>&) {
    return "an object of strings";
  }

  const Json& object_;
  std::string path_;
  std::string& fault_;
};

// One list of fields for both directions: `Value` is const when written.

template <typename Visitor, typename Value>
void visit_experiment(Visitor& visitor, Value& experiment) {
  visitor.field("study", experiment.study);
  visitor.field("model", experiment.model);
  visitor.field("version", experiment.version);
  visitor.field("model_sha256", experiment.model_sha256);
  visitor.field("engine", experiment.engine);
  visitor.field("precision", experiment.precision);
  visitor.field("batch", experiment.batch);
  visitor.field("lanes", experiment.lanes);
  visitor.field("concurrency", experiment.concurrency);
  visitor.field("shape", experiment.shape);
  visitor.field("target", experiment.target);
  visitor.field("tensors", experiment.tensors);
  visitor.field("load", experiment.load);
  visitor.field("seconds", experiment.seconds);
  visitor.field("min_requests", experiment.min_requests);
  visitor.field("seed", experiment.seed);
}

template <typename Visitor, typename Value>
void visit_machine(Visitor& visitor, Value& machine) {
  visitor.field("cpu", machine.cpu);
  visitor.field("cpu_flags", machine.cpu_flags);
  visitor.field("cores", machine.cores);
  visitor.field("cpu_quota", machine.cpu_quota);
  visitor.field("memory_bytes", machine.memory_bytes);
  visitor.field("governor", machine.governor);
  visitor.field("kernel", machine.kernel);
  visitor.field("versions", machine.versions);
}

template <typename Visitor, typename Value>
void visit_counts(Visitor& visitor, Value& counts) {
  visitor.field("sent", counts.sent);
  visitor.field("ok", counts.ok);
  visitor.field("failed", counts.failed);
  visitor.field("unfinished", counts.unfinished);
}

template <typename Visitor, typename Value>
void visit_distribution(Visitor& visitor, Value& distribution) {
  visitor.field("mean", distribution.mean);
  visitor.field("p50", distribution.p50);
  visitor.field("p90", distribution.p90);
  visitor.field("p95", distribution.p95);
  visitor.field("p99", distribution.p99);
  visitor.field("min", distribution.min);
  visitor.field("max", distribution.max);
}

template <typename Visitor, typename Value>
void visit_result(Visitor& visitor, Value& result) {
  visitor.field("id", result.id);
  visitor.object("experiment", [&](auto& in) { visit_experiment(in, result.experiment); });
  visitor.object("machine", [&](auto& in) { visit_machine(in, result.machine); });
  visitor.field("started_at", result.started_at);
  visitor.field("warmup_seconds", result.warmup_seconds);
  visitor.field("warmup_requests", result.warmup_requests);
  visitor.field("window_seconds", result.window_seconds);
  visitor.object("counts", [&](auto& in) { visit_counts(in, result.counts); });
  visitor.field("items", result.items);
  visitor.field("items_per_second", result.items_per_second);
  visitor.field("items_per_second_low", result.items_per_second_low);
  visitor.field("items_per_second_high", result.items_per_second_high);
  visitor.object("latency_ms", [&](auto& in) { visit_distribution(in, result.latency); });
  visitor.table("split_ms", result.split,
                [](auto& in, auto& distribution) { visit_distribution(in, distribution); });
  visitor.field("lane_busy", result.lane_busy);
  visitor.field("generator_cores", result.generator_cores);
  visitor.field("memory_bytes", result.memory_bytes);
  visitor.json("engine_report", result.engine_report);
  visitor.field("valid", result.valid);
  visitor.field("invalid_because", result.invalid_because);
  visitor.field("samples_file", result.samples_file);
}

/// Rules that no single field can tell; empty when all hold.
std::string broken_rule(const ExperimentResult& result) {
  if (!stats::adds_up(result.counts)) {
    return "counts.sent must equal ok + failed + unfinished";
  }
  if (result.valid != result.invalid_because.empty()) {
    return "valid must be true exactly when invalid_because is empty";
  }
  return "";
}

}  // namespace

Result<ExperimentResult> parse_result(std::string_view json, const std::string& where) {
  const Json document = Json::parse(json, nullptr, false);
  if (document.is_discarded()) {
    return invalid_argument(where + ": not JSON, or cut short");
  }
  std::string fault;
  std::int64_t format = 0;
  Reader reader(document, "", fault);
  reader.field("format", format);
  if (fault.empty() && (format < 1 || format > kResultFormat)) {
    return unsupported(where + ": result format " + std::to_string(format) +
                       " is not known here (this corelane reads 1 to " +
                       std::to_string(kResultFormat) + "); read it with a newer corelane");
  }
  ExperimentResult result;
  visit_result(reader, result);
  if (fault.empty()) {
    fault = broken_rule(result);
  }
  if (!fault.empty()) {
    return invalid_argument(where + ": " + fault);
  }
  return result;
}

Result<ExperimentResult> read_result(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return errno_error("reading " + file.string(), errno);
  }
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return parse_result(text, file.string());
}

std::string write_result(const ExperimentResult& result) {
  Writer writer;
  writer.field("format", kResultFormat);
  visit_result(writer, result);
  // Text from elsewhere (an engine's message) need not be UTF-8, which JSON is.
  return writer.take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace corelane::bench
