#pragma once

#include <vector>

#include "bench/result.h"

namespace corelane::bench {

/// A study that nobody measured: plausible figures from a formula, for tests of whatever reads
/// results. Two models, two precisions, two lane plans, batch 1 to 32, a load of mixed lengths and
/// one invalid result. tests/data/results/ holds the same as files.
std::vector<ExperimentResult> example_study();

}  // namespace corelane::bench
