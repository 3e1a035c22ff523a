#include "wire/v2_repository.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace corelane::wire {
namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(ParseIndexRequest, TakesReadyAndNothingElse) {
  EXPECT_FALSE(*parse_index_request({}));
  EXPECT_FALSE(*parse_index_request(bytes("{}")));
  EXPECT_TRUE(*parse_index_request(bytes(R"({"ready":true})")));
  EXPECT_EQ(parse_index_request(bytes(R"({"ready":1})")).error().message,
            "'ready' is not a boolean");
  EXPECT_FALSE(parse_index_request(bytes(R"({"raedy":true})")));
  EXPECT_FALSE(parse_index_request(bytes("[]")));
  EXPECT_FALSE(parse_index_request(bytes("{")));
}

TEST(ParseLoadRequest, RefusesParametersByName) {
  EXPECT_TRUE(parse_load_request({}));
  EXPECT_TRUE(parse_load_request(bytes(R"({"parameters":{}})")));
  EXPECT_EQ(parse_load_request(bytes(R"({"parameters":{"config":"{}"}})")).error().message,
            "parameter 'config' is not supported: a model is loaded as the repository holds it");
  EXPECT_FALSE(parse_load_request(bytes(R"({"parameters":3})")));
  EXPECT_FALSE(parse_load_request(bytes(R"({"config":"{}"})")));
}

TEST(ParseUnloadRequest, TakesUnloadDependents) {
  EXPECT_TRUE(parse_unload_request(bytes(R"({"parameters":{"unload_dependents":false}})")));
  EXPECT_FALSE(parse_unload_request(bytes(R"({"parameters":{"unload_dependents":"no"}})")));
}

TEST(WriteRepositoryIndex, LeavesAnEmptyReasonOut) {
  const std::vector<RepositoryEntry> entries{
      {.name = "a", .version = 1, .state = "READY"},
      {.name = "b", .version = 2, .state = "UNAVAILABLE", .reason = "not \"loaded\""}};
  EXPECT_EQ(write_repository_index(entries),
            R"([{"name":"a","version":"1","state":"READY"},)"
            R"({"name":"b","version":"2","state":"UNAVAILABLE","reason":"not \"loaded\""}])");
  EXPECT_EQ(write_repository_index({}), "[]");
}

TEST(WriteFreed, NamesVersionAndLane) {
  const std::vector<FreedMemory> freed{
      {.version = "a@1", .lane = "cpu:0", .before = {.count = 9}, .after = {.count = 4}}};
  EXPECT_EQ(write_freed(freed),
            R"({"freed":[{"version":"a@1","lane":"cpu:0","before_bytes":9,"after_bytes":4}]})");
}

}  // namespace
}  // namespace corelane::wire
