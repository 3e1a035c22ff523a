// Runs a fuzz target over a folder of inputs without libFuzzer: each file as it is, cut short, and
// with bytes changed by a generator with a fixed seed, so that a plain g++ build keeps what fuzzing
// has found.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutationsPerFile = 2000;

using Input = std::vector<std::uint8_t>;

void run(const Input& input) {
  const Input exact(input.begin(), input.end());  // no spare capacity to read into
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

Input mutated(const Input& input, std::mt19937_64& random) {
  Input changed = input;
  const auto times = 1 + random() % 4;
  for (std::uint64_t i = 0; i < times && !changed.empty(); ++i) {
    const std::size_t at = random() % changed.size();
    switch (random() % 4) {
      case 0:
        changed[at] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        changed[at] ^= static_cast<std::uint8_t>(1U << (random() % 8));
        break;
      case 2:
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at),
                       changed[random() % changed.size()]);
    }
  }
  return changed;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::mt19937_64 random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const Input input{std::istreambuf_iterator<char>(file), {}};
    run(input);
    for (std::size_t size = 0; size < input.size(); ++size) {
      run(Input(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    for (int i = 0; i < kMutationsPerFile; ++i) run(mutated(input, random));
    ++files;
  }
  std::printf("%d inputs and their mutations\n", files);
  return files > 0 ? 0 : 1;
}
