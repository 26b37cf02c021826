#include "layout/greedy.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "layout/placed_index.h"

namespace ebb::layout {
namespace {

constexpr std::size_t kWorkPerStep = 1024;

// Follows the placed items upwards and remembers the best hole.
class HoleFinder {
 public:
  HoleFinder(Units size, Fit fit, const std::vector<AddressSpan>& spans)
      : size_(size), fit_(fit), spans_(spans), cursor_(spans.front().begin) {}

  // The next item in the way. True once a hole is found that no later one can beat.
  bool meet(const PlacedItem& placed) {
    while (span_ < spans_.size() && placed.offset >= spans_[span_].end) close_span();
    if (span_ == spans_.size()) return true;
    offer(cursor_, placed.offset);
    cursor_ = std::max(cursor_, placed.top);
    return fit_ == Fit::kFirst && hole_.has_value();
  }

  std::optional<Units> finish() {
    while (span_ < spans_.size()) close_span();
    return hole_ ? hole_ : room_on_top_;
  }

 private:
  void close_span() {
    if (!room_on_top_ && spans_[span_].end - cursor_ >= size_) room_on_top_ = cursor_;
    if (++span_ < spans_.size()) cursor_ = std::max(cursor_, spans_[span_].begin);
  }

  void offer(Units begin, Units end) {
    if (end - begin < size_ || end - begin >= hole_size_) return;
    if (fit_ == Fit::kFirst && hole_) return;
    hole_ = begin;
    hole_size_ = end - begin;
  }

  Units size_;
  Fit fit_;
  const std::vector<AddressSpan>& spans_;
  std::size_t span_ = 0;
  Units cursor_;
  std::optional<Units> hole_, room_on_top_;
  Units hole_size_ = std::numeric_limits<Units>::max();
};

// The lowest of the first ranges that begins at most there; nullptr if there is none.
const PlacedItem* lowest(const Neighbours& near, const std::array<std::size_t, 2>& next, Units offset) {
  const PlacedItem* found = nullptr;
  for (std::size_t k = 0; k < next.size(); ++k) {
    if (next[k] == near.ranges[k].size()) continue;
    const PlacedItem& range = near.ranges[k][next[k]];
    if (range.offset <= (found ? found->offset : offset)) found = &range;
  }
  return found;
}

std::optional<Units> find_room(const PlacedIndex& index, const Neighbours& near, const Item& item, Fit fit,
                               const std::vector<AddressSpan>& spans) {
  HoleFinder finder(item.size, fit, spans);
  std::array<std::size_t, 2> next = {};
  const auto meet_ranges = [&](Units offset) {
    while (const PlacedItem* range = lowest(near, next, offset)) {
      ++next[next[0] < near.ranges[0].size() && range == &near.ranges[0][next[0]] ? 0 : 1];
      if (finder.meet(*range)) return true;
    }
    return false;
  };
  for (const PlacedItem& placed : near.items) {
    if (!index.meets(item, placed)) continue;
    if (meet_ranges(placed.offset) || finder.meet(placed)) return finder.finish();
  }
  meet_ranges(std::numeric_limits<Units>::max());
  return finder.finish();
}

}  // namespace

std::vector<int> sorted_by(Order order, const Problem& problem) {
  const auto key = [&](int i) {
    const Buffer& buffer = problem.buffers[i];
    const double duration = static_cast<double>(buffer.end - buffer.begin);
    switch (order) {
      case Order::kSize:
        return static_cast<double>(buffer.size);
      case Order::kDuration:
        return duration;
      case Order::kArea:
        return duration * static_cast<double>(buffer.size);
      case Order::kBirth:
        // What wraps is there when the iteration begins: it is the oldest.
        return -static_cast<double>(
            problem.period && buffer.end > *problem.period ? buffer.begin - *problem.period : buffer.begin);
    }
    return 0.0;
  };
  std::vector<int> sorted(problem.buffers.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return key(a) > key(b); });
  return sorted;
}

Placement place_in_order(const Instance& instance, const std::vector<Units>& fixed,
                         const std::vector<int>& order, Fit fit, const std::vector<AddressSpan>& spans) {
  PlacedIndex index(instance.sections);
  Placement placement{.offsets = fixed, .homeless = {}};
  std::size_t work = 0;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i] >= 0) index.insert(instance.items[i], fixed[i]);
  }
  for (const int i : order) {
    if (fixed[i] >= 0) continue;
    const Neighbours near = index.near(instance.items[i]);
    work += near.size();
    const std::optional<Units> offset = find_room(index, near, instance.items[i], fit, spans);
    if (!offset) {
      placement.homeless = i;
      break;
    }
    placement.offsets[i] = *offset;
    index.insert(instance.items[i], *offset);
  }
  placement.steps = 1 + static_cast<std::int64_t>(work / kWorkPerStep);
  return placement;
}

}  // namespace ebb::layout
