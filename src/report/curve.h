#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace corelane::report {

/// One configuration as a point of the throughput/latency plane.
struct Sample {
  double items_per_second = 0;
  double p95 = 0;  // milliseconds
};

/// Two throughputs closer than this are the same: runs on one machine differ by about as much.
inline constexpr double kNoise = 0.02;

/// The points worth choosing from, as indices, by rising P95: each gives at least kNoise more
/// throughput than every faster one. Never empty unless `samples` is.
std::vector<std::size_t> pareto_front(std::span<const Sample> samples);

/// Where the front bends. With P95 and throughput of the front scaled to 0..1, it is the point with
/// the largest (throughput - P95): the one farthest above the straight line from the fastest point
/// to the one with the most throughput. Where several are as far (a straight line, two points), the
/// one with the most throughput for its P95. Nothing where `samples` is empty.
std::optional<std::size_t> knee(std::span<const Sample> samples);

/// The most throughput; among those within kNoise of it the lowest P95. On one machine this is the
/// cheapest point, since a second costs the same whatever runs. Nothing where `samples` is empty.
std::optional<std::size_t> cheapest(std::span<const Sample> samples);

}  // namespace corelane::report
