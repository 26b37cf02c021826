// The shape the packers work on. Time is cut into *sections*: maximal sets of buffers that are alive
// together, in order around a ring. A buffer covers consecutive sections; two buffers meet in time iff they
// share one.
//
//   a: |-----|               sections: {a, b}, {b, c}     (the moments where only a or only c lives
//   b:    |------|                                         add nothing and are left out)
//   c:         |----|
//
// Sizes are in units, the largest size that divides all sizes and offsets, so that sums of sizes stay exact.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/problem.h"

namespace ebb::layout {

using Units = std::int64_t;

// A buffer on the ring: sections first, first + 1, … first + count - 1, modulo the number of sections.
struct Item {
  int first = 0;
  int count = 0;
  Units size = 0;
  int source = 0;  // index in Problem::buffers
  bool operator==(const Item&) const = default;
};

struct Instance {
  int sections = 0;
  std::vector<Item> items;
  std::vector<Units> base;  // per section: units at the bottom that are taken already
};

// Calls visit(first, last) for the one or two half-open ranges of sections that the item covers.
template <typename Visit>
void for_ranges(const Item& item, int sections, Visit&& visit) {
  const int last = item.first + item.count;
  if (last <= sections) {
    visit(item.first, last);
  } else {
    visit(item.first, sections);
    visit(0, last - sections);
  }
}

// The largest unit that divides every rounded size and every fixed offset; the alignment where there are
// none.
Bytes unit_of(const Problem& problem, Bytes alignment);

// All buffers of the problem, fixed ones included, on sections. REQUIRES: check(problem, alignment) passes.
Instance cut_into_sections(const Problem& problem, Bytes alignment, Bytes unit);

// True if all sections have the same base.
bool has_level_base(const Instance& instance);

// Per section: its base and the sizes of all items alive in it.
std::vector<Units> load_of(const Instance& instance);

}  // namespace ebb::layout
