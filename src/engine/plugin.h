#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "engine/engine_abi.h"

/// What corelane's own plug-ins share: a C++ class becomes the C table of engine_abi.h. Header
/// only, so that a plug-in links nothing of corelane.
namespace corelane::engine {

inline cl_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return CL_INVALID_ARGUMENT;
    case ErrorCode::kNotFound:
      return CL_NOT_FOUND;
    case ErrorCode::kUnsupported:
      return CL_UNSUPPORTED;
    case ErrorCode::kResourceExhausted:
      return CL_OUT_OF_MEMORY;
    default:
      return CL_FAILED;
  }
}

/// A framework's message without its back trace: up to the first line break.
inline std::string first_line(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return "no message";
  return std::string(text.substr(start, text.find_first_of("\r\n", start) - start));
}

/// The functions of a cl_engine for a class with
///   static Result<std::unique_ptr<Model>> load(const cl_load_options&);
///   Status infer(const cl_tensor* inputs, cl_tensor* outputs);
///   const char* describe();
///   static std::string explain(const std::exception&);  // the reason in the framework's text
/// All may throw what the framework throws; nothing leaves the plug-in.
template <typename Model>
class Plugin {
 public:
  static constexpr cl_engine table(const char* name, const char* version) {
    return {.abi_version = CL_ENGINE_ABI_VERSION,
            .struct_size = sizeof(cl_engine),
            .name = name,
            .version = version,
            .load = load,
            .describe = describe,
            .infer = infer,
            .unload = unload,
            .last_error = last_error};
  }

 private:
  static cl_status load(const cl_load_options* options, cl_model** model) {
    return guarded([&]() -> Status {
      if (options->struct_size < sizeof(cl_load_options)) {
        return unsupported("the host speaks an older version of the boundary");
      }
      auto loaded = Model::load(*options);
      if (!loaded) return std::move(loaded).error();
      *model = reinterpret_cast<cl_model*>((*loaded).release());
      return {};
    });
  }

  static const char* describe(cl_model* model) {
    const char* text = "{}";
    static_cast<void>(guarded([&]() -> Status {
      text = reinterpret_cast<Model*>(model)->describe();
      return {};
    }));
    return text;
  }

  static cl_status infer(cl_model* model, const cl_tensor* inputs, cl_tensor* outputs) {
    return guarded([&] { return reinterpret_cast<Model*>(model)->infer(inputs, outputs); });
  }

  static void unload(cl_model* model) {
    static_cast<void>(guarded([&]() -> Status {
      std::unique_ptr<Model>(reinterpret_cast<Model*>(model)).reset();
      return {};
    }));
  }

  static const char* last_error() { return error_text().c_str(); }

  static std::string& error_text() {
    thread_local std::string text;
    return text;
  }

  template <typename Run>
  static cl_status guarded(Run&& run) noexcept {
    error_text().clear();
    try {
      const Status status = run();
      if (status) return CL_OK;
      error_text() = status.error().message;
      return status_of(status.error().code);
    } catch (const std::bad_alloc&) {
      error_text() = "out of memory";
      return CL_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
      error_text() = first_line(Model::explain(error));
      return CL_FAILED;
    } catch (...) {
      error_text() = "an exception of unknown type";
      return CL_FAILED;
    }
  }
};

}  // namespace corelane::engine
