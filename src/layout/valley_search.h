// Exact search: do the items fit below a ceiling?
//
// The skyline is a floor per section. In a *valley* of it, at one section, either one of the items that lie
// inside the valley sits on the floor, or none does and the floor rises to the next level that a top can
// make:
//
//   #      #            #      #             #      #            #      #
//   #      #   either   #aaa   #   or b, or  #  ccc #   or       #~~~   #
//   ########            ########             ########            ########
//
// The branches exclude each other. After each of them, floors and least offsets are propagated (skyline.h).
// Where no unplaced item crosses, the parts are solved one by one. Luby restarts with a new ValueOrder.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/budget.h"
#include "layout/sections.h"

namespace ebb::layout {

enum class SearchEnd { kFits, kDoesNotFit, kOutOfBudget };

struct SearchResult {
  SearchEnd end = SearchEnd::kOutOfBudget;
  std::vector<Units> offsets = {};  // per item; empty unless it fits
};

// Places all items of the instance between its base and `ceiling`. kDoesNotFit is a proof.
SearchResult search_valleys(const Instance& instance, Units ceiling, std::uint64_t seed,
                            SearchBudget& budget);

}  // namespace ebb::layout
