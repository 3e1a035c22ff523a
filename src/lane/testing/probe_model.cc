#include "lane/testing/probe_model.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/check.h"

namespace corelane::lane {

ProbeModel::ProbeModel(const std::string& options, const Tensors& tensors) {
  std::string pattern = std::filesystem::temp_directory_path() / "corelane-probe-XXXXXX";
  check(mkdtemp(pattern.data()) != nullptr, "a test can make a folder");
  folder_ = pattern;
  std::ofstream out(folder_ / "model.toml");
  out << "format = 1\nname = \"m\"\nversion = 1\n"
      << "[[input]]\nname = \"INPUT0\"\ntype = \"" << tensors.type
      << "\"\nshape = " << tensors.input << "\n";
  if (tensors.pad != "0") {
    out << "pad = " << tensors.pad << "\n";
  }
  out << "[[output]]\nname = \"OUTPUT0\"\ntype = \"" << tensors.type
      << "\"\nshape = " << tensors.output << "\n[dimensions]\n";
  const std::string shapes = tensors.input + tensors.output;
  for (const std::string name : {"batch", "m", "n", "tokens"}) {
    if (shapes.find('"' + name + '"') != std::string::npos) {
      out << name << " = { max = 64 }\n";
    }
  }
  out << "[precision.f32]\nengine = \"probe\"\noptions = " << options << "\n";
}

ProbeModel::~ProbeModel() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace corelane::lane
