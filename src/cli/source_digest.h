#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace corelane::cli {

/// SHA-256 in hexadecimal of all that a model is made from. A file counts with the files beside it
/// that hold its weights (x.bin of x.xml, x.onnx.data and x.onnx_data of x.onnx), a folder with all
/// files in it by their relative names, hidden ones left out.
Result<std::string> source_digest(const std::filesystem::path& source);

}  // namespace corelane::cli
