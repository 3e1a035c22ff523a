#include "lane/worker_book.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/result.h"
#include "base/units.h"
#include "lane/control_messages.h"
#include "lane/lane.h"
#include "lane/load_spec.h"

namespace corelane::lane {
namespace {

using Steps = WorkerBook::Steps;

const LoadSpec kSpec{.folder = "/models/m/1", .precision = "f32"};

Report loaded(std::uint32_t slot, Status status = {}) {
  return ModelLoaded{.slot = SlotId{slot}, .status = std::move(status), .report = "{}", .took = {}};
}

Report unloaded(std::uint32_t slot) { return ModelUnloaded{.slot = SlotId{slot}}; }

/// "load 1, unload 2": what a step sends.
std::string sent(const Steps& steps) {
  if (!steps.send) return "";
  if (const auto* load = std::get_if<LoadCommand>(&*steps.send)) {
    return "load " + std::to_string(static_cast<unsigned>(load->slot));
  }
  return "unload " +
         std::to_string(static_cast<unsigned>(std::get<UnloadCommand>(*steps.send).slot));
}

/// "loaded 1, failed 2, unloaded 3": what a step posts.
std::string posted(const Steps& steps) {
  std::string text;
  for (const LaneEvent& event : steps.post) {
    text += text.empty() ? "" : ", ";
    if (const auto* load = std::get_if<ModelLoaded>(&event)) {
      text += (load->status ? "loaded " : "failed ") +
              std::to_string(static_cast<unsigned>(load->slot));
    } else {
      text +=
          "unloaded " + std::to_string(static_cast<unsigned>(std::get<ModelUnloaded>(event).slot));
    }
  }
  return text;
}

TEST(WorkerBook, IsUpAsSoonAsAnEmptyWorkerIsReady) {
  WorkerBook book;
  book.started();
  EXPECT_TRUE(book.reported(Ready{}).up);
  EXPECT_EQ(sent(book.load(SlotId{1}, kSpec)), "load 1");
  const Steps steps = book.reported(loaded(1));
  EXPECT_EQ(posted(steps), "loaded 1");
  EXPECT_FALSE(steps.up) << "it was up before";
}

TEST(WorkerBook, SendsOneCommandAtATimeInTheOrderAsked) {
  WorkerBook book;
  book.started();
  book.reported(Ready{});
  EXPECT_EQ(sent(book.load(SlotId{1}, kSpec)), "load 1");
  EXPECT_EQ(sent(book.load(SlotId{2}, kSpec)), "");
  EXPECT_EQ(sent(book.unload(SlotId{1})), "");
  EXPECT_EQ(sent(book.reported(loaded(1))), "load 2");
  EXPECT_EQ(sent(book.reported(loaded(2))), "unload 1");
  EXPECT_EQ(posted(book.reported(unloaded(1))), "unloaded 1");
}

TEST(WorkerBook, LoadsWhatTheLaneHoldsBeforeANewWorkerIsUp) {
  WorkerBook book;
  book.started();
  book.reported(Ready{});
  book.load(SlotId{1}, kSpec);
  book.reported(loaded(1));
  book.load(SlotId{2}, kSpec);
  book.reported(loaded(2, internal_error("cannot be loaded")));
  EXPECT_EQ(posted(book.died()), "");
  EXPECT_EQ(sent(book.load(SlotId{3}, kSpec)), "") << "there is no worker";
  book.started();
  EXPECT_EQ(sent(book.reported(Ready{})), "load 1");
  EXPECT_EQ(sent(book.reported(loaded(1))), "load 3") << "2 had failed and is not tried again";
  EXPECT_TRUE(book.reported(loaded(3)).up);
}

TEST(WorkerBook, GivesUpAModelThatWorkersDieOf) {
  WorkerBook book;
  book.load(SlotId{1}, kSpec);
  book.load(SlotId{2}, kSpec);
  book.started();
  EXPECT_EQ(sent(book.reported(Ready{})), "load 1");
  EXPECT_EQ(posted(book.died()), "") << "once may have been bad luck";
  book.started();
  EXPECT_EQ(sent(book.reported(Ready{})), "load 1");
  EXPECT_EQ(posted(book.died()), "failed 1");
  book.started();
  EXPECT_EQ(sent(book.reported(Ready{})), "load 2");
  EXPECT_TRUE(book.reported(loaded(2)).up);
}

TEST(WorkerBook, AnswersUnloadsThatADeathOvertakes) {
  WorkerBook book;
  book.load(SlotId{1}, kSpec);
  book.load(SlotId{2}, kSpec);
  book.started();
  book.reported(Ready{});
  book.reported(loaded(1));
  book.reported(loaded(2));
  EXPECT_EQ(sent(book.unload(SlotId{1})), "unload 1");
  book.unload(SlotId{2});
  EXPECT_EQ(posted(book.died()), "unloaded 1, unloaded 2");
  book.load(SlotId{3}, kSpec);
  EXPECT_EQ(posted(book.unload(SlotId{3})), "unloaded 3") << "no worker, so at once";
  EXPECT_EQ(posted(book.unload(SlotId{9})), "") << "never held here";
  book.started();
  EXPECT_TRUE(book.reported(Ready{}).up);
}

TEST(WorkerBook, SeesThroughAWorkerThatSaysWhatItWasNotAsked) {
  for (const Report& lie : {loaded(1), unloaded(1), loaded(2)}) {
    WorkerBook book;
    book.started();
    book.reported(Ready{});
    if (const auto* other = std::get_if<ModelLoaded>(&lie); other && other->slot == SlotId{2}) {
      book.load(SlotId{1}, kSpec);
    }
    const Steps steps = book.reported(lie);
    EXPECT_TRUE(steps.broken);
    EXPECT_EQ(posted(steps), "");
  }
  WorkerBook book;
  book.started();
  book.reported(Ready{});
  EXPECT_TRUE(book.reported(Ready{}).broken);
}

TEST(RestartDelay, DoublesUpToTenSecondsAndAddsUpToAQuarter) {
  constexpr Nanos kBase = std::chrono::milliseconds(50);
  EXPECT_EQ(restart_delay(kBase, 1, 0), kBase);
  EXPECT_EQ(restart_delay(kBase, 2, 0), 2 * kBase);
  EXPECT_EQ(restart_delay(kBase, 4, 0), 8 * kBase);
  EXPECT_EQ(restart_delay(kBase, 1000, 0), std::chrono::seconds(10));
  EXPECT_EQ(restart_delay(kBase, 1, 0.5), kBase + kBase / 8);
}

TEST(ControlMessages, ReadWhatTheyWrite) {
  const auto command =
      parse_command(to_json(Command(LoadCommand{.slot = SlotId{3}, .spec = kSpec})));
  ASSERT_TRUE(command);
  EXPECT_EQ(std::get<LoadCommand>(*command).spec, kSpec);
  EXPECT_EQ(std::get<LoadCommand>(*command).slot, SlotId{3});
  EXPECT_TRUE(std::holds_alternative<StopCommand>(*parse_command(to_json(Command(StopCommand{})))));
  EXPECT_EQ(
      std::get<UnloadCommand>(*parse_command(to_json(Command(UnloadCommand{.slot = SlotId{4}}))))
          .slot,
      SlotId{4});

  const auto report = parse_report(to_json(Report(ModelLoaded{.slot = SlotId{5},
                                                              .status = not_found("no \xff file"),
                                                              .report = R"({"device":"cpu"})",
                                                              .took = Nanos(7)})));
  ASSERT_TRUE(report);
  const auto& back = std::get<ModelLoaded>(*report);
  EXPECT_EQ(back.slot, SlotId{5});
  EXPECT_EQ(back.status.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(back.report, R"({"device":"cpu"})");
  EXPECT_EQ(back.took, Nanos(7));
}

TEST(ControlMessages, LeaveOutAReportThatIsTooLong) {
  const std::string text = to_json(Report(ModelLoaded{
      .slot = SlotId{1}, .status = {}, .report = std::string(100'000, 'x'), .took = {}}));
  EXPECT_LT(text.size(), kMostMessageBytes);
  EXPECT_EQ(std::get<ModelLoaded>(*parse_report(text)).report, "{}");
}

TEST(ControlMessages, RefuseWhatIsNone) {
  for (const char* text : {"", "{", "[]", "7", R"({"is":"loaded"})", R"({"is":7})",
                           R"({"is":"loaded","slot":"1","report":"","took_ns":1})",
                           R"({"is":"loaded","slot":1,"report":"","took_ns":1,"error":99})",
                           R"({"do":"load","slot":1})", R"({"is":"other","slot":1})"}) {
    EXPECT_FALSE(parse_report(text)) << text;
    EXPECT_FALSE(parse_command(text)) << text;
  }
}

}  // namespace
}  // namespace corelane::lane
