#include "cli/uncompiled.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/compile_plan.h"

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

/// As one word of a shell's command line.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/+,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::optional<std::string> how_to_serve(const fs::path& path, const std::string& models) {
  std::error_code failed;
  const std::string ending = path.extension().string();
  const bool file = fs::is_regular_file(path, failed);
  const bool torch_script = file && (ending == ".pt" || ending == ".pth" || ending == ".ts");
  const bool converted = file && (ending == ".onnx" || ending == ".xml");
  if (!torch_script && !converted && !fs::exists(path / "config.json", failed)) {
    return std::nullopt;
  }
  const std::string name = default_name(path.string());
  std::string text =
      fmt::format("{} is not compiled yet. Compile it and serve what that makes:\n", path.string());
  text += fmt::format("  corelane compile {} --name {}", quoted(path.string()), name);
  if (models != "models") text += " --out " + quoted(models);
  if (torch_script) text += " --input 'NAME:TYPE[DIMENSIONS]'";
  text += fmt::format("\n  corelane serve {}", quoted((fs::path(models) / name).string()));
  if (torch_script) text += "\nwith --input for each of its inputs: corelane help inputs";
  return text;
}

}  // namespace corelane::cli
