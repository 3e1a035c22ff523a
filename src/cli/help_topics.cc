#include "cli/help_topics.h"

#include <array>
#include <span>
#include <string_view>

namespace corelane::cli {
namespace {

constexpr std::string_view kExitStatus =
    R"(0  done
1  the work failed; stderr says what, where and what to do
2  wrong usage: an option or an argument is not understood
3  done, but something asked for does not hold, such as a latency limit
130  stopped by Ctrl-C or SIGTERM (serve: 0, since stopping is how it ends)
)";

constexpr std::string_view kModels = R"(A model version is a folder, models/<model>/<version>/:

  model.toml   what it takes, what it gives, and one artifact for each precision.
               Written by `corelane compile`; meant to be read and edited.
  f32.xml ...  the artifacts themselves
  tokenizer/   the tokenizer's files, where the source had them

Versions are numbered. A new one is prepared beside the others and appears at once and whole, so a
server that reads the folder never sees half of it. To go back to an older version, remove the
newer folder, or serve the older one alone: `corelane serve models/qa/3`.
)";

constexpr std::string_view kInputs =
    R"(A TorchScript file does not say what its inputs look like. Describe each with
--input name:dtype[dims], in the order in which the model takes them:

  --input 'input_ids:int64[?,1..512]'            any batch; from 1 to 512 tokens
  --input 'image:fp32[batch=1..32,3,224,224]'    a batch named and limited; the rest fixed

  dtype   bool, int8 to int64, uint8 to uint64, fp16, fp32, fp64, bf16 (also float, half, long ...)
  dim     a number, ? (any size), low..high, or name=? and name=low..high
          Dimensions of the same name are of the same size in a request. Without a name the first
          varying dimension is `batch`, the second of integers `tokens`.
)";

constexpr std::string_view kLanes =
    R"(A lane is a set of cores and the one worker process that is pinned to them. A plan cuts the
machine into lanes:

  auto              a lane for each physical core that may be used (affinity, cpuset) and that the
                    CPU quota lets run; above 16 cores fewer, larger lanes
  auto:4            lanes of four physical cores; what remains is left to the server
  all               one lane on all cores
  cpu:0-3|cpu:4-7   by hand: two lanes of four CPUs; CPUs by the system's numbers (see lscpu -e)

Many small lanes give the most throughput, few large ones the lowest latency of a single request
and the least memory: `corelane bench` measures which is cheapest. A lane computes with one thread
for each physical core; the siblings of a core stay in one lane.
)";

}  // namespace

std::span<const HelpTopic> help_topics() {
  static constexpr std::array kTopics = {
      HelpTopic{"exit-status", "What the exit status of a command means", kExitStatus},
      HelpTopic{"inputs", "How to describe the inputs of a TorchScript file", kInputs},
      HelpTopic{"lanes", "How a machine is cut into lanes", kLanes},
      HelpTopic{"models", "What a folder of models looks like", kModels},
  };
  return kTopics;
}

}  // namespace corelane::cli
