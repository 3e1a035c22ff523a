#include "lane/model_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "lane/channel_layout.h"
#include "lane/model_loader.h"
#include "lane/testing/probe_model.h"
#include "tensor/dtype.h"

namespace corelane::lane {
namespace {

/// A batch and its answer as they stand in a channel, with an arena and output memory.
class Bench {
 public:
  explicit Bench(const ProbeModel& model)
      : runner_(*ModelLoader(CORELANE_ENGINES, 1).load(model.spec())) {
    submission_->members = 0;
    submission_->padded_to_count = 0;
  }

  template <typename T>
  Bench& add(tensor::DType type, const std::vector<std::int64_t>& dims,
             const std::vector<T>& elements, std::size_t offset = 0) {
    const std::size_t place = offset != 0 ? offset : next_;
    std::ranges::copy(std::as_bytes(std::span(elements)),
                      arena_.begin() + static_cast<std::ptrdiff_t>(place));
    WireTensor& tensor = submission_->tensors[submission_->members++];
    tensor = {.offset = place,
              .bytes = elements.size() * sizeof(T),
              .dtype = static_cast<std::uint32_t>(type),
              .rank = static_cast<std::uint32_t>(dims.size()),
              .dims = {}};
    std::ranges::copy(dims, tensor.dims);
    next_ += 1024;
    return *this;
  }
  Bench& floats(const std::vector<std::int64_t>& dims, const std::vector<float>& elements) {
    return add<float>(tensor::DType::kFp32, dims, elements);
  }
  Bench& bytes(const std::vector<std::int64_t>& dims, const std::vector<std::string>& texts) {
    return add<char>(tensor::DType::kBytes, dims, as_bytes(texts));
  }
  /// Sizes of the dimensions, in alphabetical order.
  Bench& padded_to(const std::vector<std::int64_t>& sizes) {
    submission_->padded_to_count = static_cast<std::uint32_t>(sizes.size());
    std::ranges::copy(sizes, submission_->padded_to);
    return *this;
  }
  Bench& run(std::size_t memory = 4096) {
    submission_->inputs_per_member = 1;
    runner_->run(*submission_, arena_, std::span(memory_).first(memory), clock_, *completion_);
    return *this;
  }

  std::string error() const {
    return {completion_->message, completion_->error == 0 ? 0 : completion_->message_bytes};
  }
  template <typename T>
  std::vector<T> output(std::size_t member) const {
    const WireTensor& tensor = completion_->tensors[member];
    std::vector<T> elements(tensor.bytes / sizeof(T));
    std::ranges::copy(std::span(memory_).subspan(tensor.offset, tensor.bytes),
                      std::as_writable_bytes(std::span(elements)).begin());
    return elements;
  }
  std::vector<std::int64_t> shape(std::size_t member) const {
    const WireTensor& tensor = completion_->tensors[member];
    return {tensor.dims, tensor.dims + tensor.rank};
  }
  static std::vector<char> as_bytes(const std::vector<std::string>& texts) {
    std::vector<char> bytes;
    for (const std::string& text : texts) {
      const auto length = static_cast<std::uint32_t>(text.size());
      const auto* raw = reinterpret_cast<const char*>(&length);
      bytes.insert(bytes.end(), raw, raw + sizeof(length));
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
    return bytes;
  }

 private:
  std::unique_ptr<ModelRunner> runner_;
  std::unique_ptr<SubmissionSlot> submission_ = std::make_unique<SubmissionSlot>();
  std::unique_ptr<CompletionSlot> completion_ = std::make_unique<CompletionSlot>();
  std::vector<std::byte> arena_ = std::vector<std::byte>(64 << 10);
  std::vector<std::byte> memory_ = std::vector<std::byte>(64 << 10);
  std::size_t next_ = 1024;
  ManualClock clock_;
};

using Shape = std::vector<std::int64_t>;
using Floats = std::vector<float>;

const std::string kIdentity = R"({ behaviour = "identity" })";
const ProbeModel::Tensors kRows{.input = R"(["batch", "tokens"])",
                                .output = R"(["batch", "tokens"])"};

TEST(ModelRunner, RunsASingleRequestAsItIs) {
  const ProbeModel model(kIdentity);
  Bench bench(model);
  bench.floats({3}, {1, 2, 3}).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.output<float>(0), (Floats{1, 2, 3}));
  EXPECT_EQ(bench.shape(0), (Shape{3}));
}

TEST(ModelRunner, CopiesATensorThatIsNotAligned) {
  const ProbeModel model(kIdentity);
  Bench bench(model);
  bench.add<float>(tensor::DType::kFp32, {2}, {8, 9}, 1028).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.output<float>(0), (Floats{8, 9}));
}

TEST(ModelRunner, RunsARequestOfNoElements) {
  const ProbeModel model(kIdentity);
  Bench bench(model);
  bench.floats({0}, {}).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.shape(0), (Shape{0}));
}

TEST(ModelRunner, StacksRowsAndPadsToTheLargestMember) {
  const ProbeModel model(kIdentity, kRows);
  Bench bench(model);
  bench.floats({1, 2}, {1, 2}).floats({2, 3}, {3, 4, 5, 6, 7, 8}).floats({1, 1}, {9}).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.shape(0), (Shape{1, 2}));
  EXPECT_EQ(bench.output<float>(0), (Floats{1, 2}));
  EXPECT_EQ(bench.shape(1), (Shape{2, 3}));
  EXPECT_EQ(bench.output<float>(1), (Floats{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(bench.output<float>(2), (Floats{9}));
}

TEST(ModelRunner, FillsWhatItAddsWithTheManifestsValueAndCutsOnlyWhatInputsHave) {
  // The output's second dimension is no input's, so it is left as the engine made it.
  const ProbeModel model(
      kIdentity, {.input = R"(["batch", "tokens"])", .output = R"(["batch", "m"])", .pad = "-1.5"});
  Bench bench(model);
  bench.floats({1, 2}, {1, 2}).floats({1, 1}, {3}).padded_to({4, 0, 3}).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.shape(0), (Shape{1, 3}));
  EXPECT_EQ(bench.output<float>(0), (Floats{1, 2, -1.5}));
  EXPECT_EQ(bench.output<float>(1), (Floats{3, -1.5, -1.5}));
}

TEST(ModelRunner, PadsASingleRequestToABucketAndCutsItBack) {
  const ProbeModel model(kIdentity, kRows);
  Bench bench(model);
  bench.floats({2, 2}, {1, 2, 3, 4}).padded_to({4, 8}).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.shape(0), (Shape{2, 2}));
  EXPECT_EQ(bench.output<float>(0), (Floats{1, 2, 3, 4}));
}

TEST(ModelRunner, StacksTextsOfAnyLengthAndGivesEachMemberItsOwn) {
  const ProbeModel model(
      kIdentity, {.type = "BYTES", .input = R"(["batch", 2])", .output = R"(["batch", 2])"});
  Bench bench(model);
  bench.bytes({1, 2}, {"a", "long text"}).bytes({2, 2}, {"", "b", "c", "dd"}).run();
  EXPECT_EQ(bench.error(), "");
  EXPECT_EQ(bench.output<char>(0), Bench::as_bytes({"a", "long text"}));
  EXPECT_EQ(bench.output<char>(1), Bench::as_bytes({"", "b", "c", "dd"}));
  EXPECT_EQ(bench.shape(1), (Shape{2, 2}));
}

TEST(ModelRunner, RefusesToPadTexts) {
  const ProbeModel model(
      kIdentity,
      {.type = "BYTES", .input = R"(["batch", "tokens"])", .output = R"(["batch", "tokens"])"});
  Bench bench(model);
  bench.bytes({1, 1}, {"a"}).bytes({1, 2}, {"b", "c"}).run();
  EXPECT_EQ(bench.error(), "input 'INPUT0': BYTES tensors cannot be padded");
}

TEST(ModelRunner, SaysWhichInputBreaksWhichRule) {
  const ProbeModel rows(kIdentity, kRows);
  const ProbeModel fixed(kIdentity, {.input = R"(["batch", 4])", .output = R"(["batch", 4])"});
  const ProbeModel vector(kIdentity);
  EXPECT_EQ(Bench(rows).floats({2}, {1, 2}).run().error(),
            "input 'INPUT0': shape [2] has not the model's 2 dimensions");
  EXPECT_EQ(Bench(fixed).floats({1, 2}, {1, 2}).run().error(),
            "input 'INPUT0': shape [1,2] must have 4 in place 1");
  EXPECT_EQ(Bench(vector).add<std::int32_t>(tensor::DType::kInt32, {1}, {1}).run().error(),
            "input 'INPUT0': its type is not FP32");
  EXPECT_EQ(Bench(vector).floats({1}, {1}).floats({1}, {1}).run().error(),
            "requests of this model cannot run together: not every input has the batch as its "
            "first dimension");
  EXPECT_EQ(Bench(rows).floats({1, 2}, {1, 2}).padded_to({0, 1}).run().error(),
            "padding tokens to 1 where the batch has 2");
  EXPECT_EQ(Bench(vector).floats({2}, {1}).run().error(),
            "an input's place or size is not that of its shape");
  EXPECT_EQ(Bench(vector).run().error(), "a batch without a request");
}

TEST(ModelRunner, FailsTheBatchWhoseOutputsAreTooLarge) {
  const ProbeModel model(kIdentity, kRows);
  const std::vector<float> many(100);
  EXPECT_EQ(Bench(model).floats({1, 64}, many).run(128).error(),
            "an input's place or size is not that of its shape");
  Bench bench(model);
  bench.floats({1, 50}, std::vector<float>(50)).floats({1, 50}, std::vector<float>(50)).run(300);
  EXPECT_EQ(bench.error(), "the outputs need more than the 0 MiB that a batch on a lane may have");
}

TEST(ModelRunner, HandsOnWhatTheEngineSays) {
  const ProbeModel model(R"({ behaviour = "fail" })");
  Bench bench(model);
  bench.floats({1}, {1}).run();
  EXPECT_TRUE(bench.error().starts_with("engine 'probe'")) << bench.error();
}

}  // namespace
}  // namespace corelane::lane
