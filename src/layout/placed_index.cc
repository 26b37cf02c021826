#include "layout/placed_index.h"

#include <algorithm>

namespace ebb::layout {
namespace {

constexpr int kNarrowestStep = 32;
constexpr int kWidening = 4;

}  // namespace

PlacedIndex::PlacedIndex(int sections) : sections_(sections) {
  for (int step = kNarrowestStep; 2 * step < sections; step *= kWidening) {
    levels_.push_back({.step = step, .blocks = std::vector<Lists>((sections + step - 1) / step)});
  }
}

void PlacedIndex::insert(const Item& item, Units offset) {
  const PlacedItem placed{
      .offset = offset, .top = offset + item.size, .first = item.first, .count = item.count};
  if (item.count >= sections_) return everywhere_.add(placed);
  all_.add(placed);
  for (Level& level : levels_) {
    int done = 0;  // blocks below this one hold it already
    const auto insert_range = [&](int first, int last) {
      const int from = std::max(first / level.step - 1, done);
      const int to = (last - 1) / level.step;
      for (int k = from; k <= to; ++k) {
        const bool is_through = first <= k * level.step && last >= std::min((k + 2) * level.step, sections_);
        (is_through ? level.blocks[k].through : level.blocks[k].inside).add(placed);
      }
      done = to + 1;
    };
    const int last = item.first + item.count;
    if (last > sections_) insert_range(0, last - sections_);
    insert_range(item.first, std::min(last, sections_));
  }
}

Neighbours PlacedIndex::near(const Item& item) {
  Lists* block = nullptr;
  const int last = item.first + item.count;
  for (Level& level : levels_) {
    const int k = item.first / level.step;
    if (last > (k + 2) * level.step || last > sections_) continue;
    block = &level.blocks[k];
    break;
  }
  List& items = block ? block->inside : all_;
  items.put_in_order(scratch_);
  Neighbours near{.items = items.items, .ranges = {}};
  const auto ranges_of = [&](List& list) -> std::span<const PlacedItem> {
    if (list.ordered == list.items.size()) return list.items;
    list.put_in_order(scratch_);
    list.join_neighbours();
    return list.items;
  };
  near.ranges[0] = ranges_of(everywhere_);
  if (block) near.ranges[1] = ranges_of(block->through);
  return near;
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

void PlacedIndex::List::join_neighbours() {
  std::size_t joined = 0;
  for (std::size_t i = 1; i < items.size(); ++i)
    if (items[i].offset <= items[joined].top)
      items[joined].top = std::max(items[joined].top, items[i].top);
    else
      items[++joined] = items[i];
  items.resize(joined + 1);
  ordered = items.size();
}

}  // namespace ebb::layout
