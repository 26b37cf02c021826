// The greedy heuristics as packers of their own: what pack() is measured against.
#pragma once

#include "layout/greedy.h"
#include "layout/packing.h"

namespace ebb::layout {

// Buffers in the given order, each by first or best fit. Minimises; the footprint has no limit.
Layout pack_greedily(const Problem& problem, Order order, Fit fit, Bytes alignment = kDefaultAlignment);

// SmartPool ([SP] §III-C): in descending order of size, each buffer goes into a hole between the buffers that
// are alive with it — the first or the smallest that fits — or else the pool is extended.
Layout pack_smartpool(const Problem& problem, Fit fit = Fit::kBest, Bytes alignment = kDefaultAlignment);

}  // namespace ebb::layout
