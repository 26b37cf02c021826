#include "layout/placed_index.h"

#include <algorithm>

namespace ebb::layout {
namespace {

constexpr int kNarrowestStep = 32;
constexpr int kWidening = 4;

}  // namespace

PlacedIndex::PlacedIndex(int sections) : sections_(sections) {
  for (int step = kNarrowestStep; 2 * step < sections; step *= kWidening) {
    levels_.push_back({.step = step, .blocks = std::vector<List>((sections + step - 1) / step)});
  }
}

void PlacedIndex::insert(const Item& item, Units offset) {
  const PlacedItem placed{
      .offset = offset, .top = offset + item.size, .first = item.first, .count = item.count};
  insert_sorted(all_, placed);
  for (Level& level : levels_) {
    int done = 0;  // blocks below this one hold it already
    const auto insert_range = [&](int first, int last) {
      const int from = std::max(first / level.step - 1, done);
      const int to = (last - 1) / level.step;
      for (int k = from; k <= to; ++k) insert_sorted(level.blocks[k], placed);
      done = to + 1;
    };
    const int last = item.first + item.count;
    if (last > sections_) insert_range(0, last - sections_);
    insert_range(item.first, std::min(last, sections_));
  }
}

std::span<const PlacedItem> PlacedIndex::near(const Item& item) const {
  const int last = item.first + item.count;
  for (const Level& level : levels_) {
    const int block = item.first / level.step;
    if (last <= (block + 2) * level.step && last <= sections_) return level.blocks[block];
  }
  return all_;
}

void PlacedIndex::insert_sorted(List& list, const PlacedItem& placed) {
  const auto above =
      std::upper_bound(list.begin(), list.end(), placed.offset,
                       [](Units offset, const PlacedItem& other) { return offset < other.offset; });
  list.insert(above, placed);
}

}  // namespace ebb::layout
