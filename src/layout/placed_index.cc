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
  all_.items.push_back(placed);
  for (Level& level : levels_) {
    int done = 0;  // blocks below this one hold it already
    const auto insert_range = [&](int first, int last) {
      const int from = std::max(first / level.step - 1, done);
      const int to = (last - 1) / level.step;
      for (int k = from; k <= to; ++k) level.blocks[k].items.push_back(placed);
      done = to + 1;
    };
    const int last = item.first + item.count;
    if (last > sections_) insert_range(0, last - sections_);
    insert_range(item.first, std::min(last, sections_));
  }
}

std::span<const PlacedItem> PlacedIndex::near(const Item& item) {
  List* list = &all_;
  const int last = item.first + item.count;
  for (Level& level : levels_) {
    const int block = item.first / level.step;
    if (last > (block + 2) * level.step || last > sections_) continue;
    list = &level.blocks[block];
    break;
  }
  list->put_in_order(scratch_);
  return list->items;
}

// Of two at the same offset, the one inserted first comes first.
void PlacedIndex::List::put_in_order(std::vector<PlacedItem>& scratch) {
  if (ordered == items.size()) return;
  const auto is_lower = [](const PlacedItem& a, const PlacedItem& b) { return a.offset < b.offset; };
  const auto later = items.begin() + static_cast<std::ptrdiff_t>(ordered);
  scratch.assign(later, items.end());
  if (scratch.size() > 1) std::stable_sort(scratch.begin(), scratch.end(), is_lower);
  auto from = later;
  auto to = items.end();
  for (auto next = scratch.end(); next != scratch.begin(); *--to = *--next) {
    const auto above = std::upper_bound(items.begin(), from, *(next - 1), is_lower);
    to = std::move_backward(above, from, to);
    from = above;
  }
  ordered = items.size();
}

}  // namespace ebb::layout
