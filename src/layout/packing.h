// pack(): a layout whose footprint is as close to the peak load as can be found, and proof where there is
// one. See docs/notes/packing.md for the algorithm and README.md for what it reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/problem.h"

namespace ebb::layout {

// By default the footprint is minimised in one arena without a limit.
struct PackOptions {
  Bytes alignment = kDefaultAlignment;  // of offsets; sizes are rounded up to it
  std::optional<Bytes> capacity = {};   // "does it fit?": any layout of at most this footprint will do
  std::vector<Bytes> arenas = {};       // capacities of several arenas instead of one; `capacity` is not used
  std::uint64_t seed = 0;
  std::int64_t budget = 2'000'000;  // steps of about a microsecond; the same budget gives the same layout
  std::optional<double> deadline_seconds = {};  // of wall time; a layout may then depend on the machine
};

struct Layout {
  // "Does not fit" is an answer: then there are no offsets, and `proved` says whether no layout exists at
  // all.
  bool fits = false;
  // If it fits: no layout has a smaller footprint.
  bool proved = false;
  std::vector<Bytes> offsets = {};  // per buffer, in the order of the problem; within its arena
  std::vector<int> arenas = {};     // per buffer: index into PackOptions::arenas; empty for a single arena
  Bytes footprint = 0;              // highest end of a buffer; summed over arenas
  Bytes load = 0;                   // peak load, after rounding to the alignment
  Bytes lower_bound = 0;            // no layout is lower; at least the load

  double ratio() const {
    return load == 0 ? 1.0 : static_cast<double>(footprint) / static_cast<double>(load);
  }
  bool operator==(const Layout&) const = default;
};

// Never worse than the best of the eight greedy heuristics (greedy.h), of which one is tried however short
// the deadline. Throws InputError as check() does.
Layout pack(const Problem& problem, const PackOptions& options = {});

}  // namespace ebb::layout
