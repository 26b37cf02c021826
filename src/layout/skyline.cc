#include "layout/skyline.h"

#include <algorithm>
#include <limits>

namespace ebb::layout {
namespace {

constexpr Units kNever = std::numeric_limits<Units>::max();

}  // namespace

Skyline::Skyline(const Instance& instance, Units ceiling)
    : items_(instance.items),
      base_(instance.base),
      sections_(instance.sections),
      ceiling_(ceiling),
      floor_(sections_),
      load_(sections_),
      candidates_(sections_),
      crossing_(sections_),
      lowest_(items_.size()),
      placed_(items_.size()),
      member_start_(sections_ + 1),
      live_(sections_) {
  slot_start_.push_back(0);
  for (const Item& item : items_) {
    slot_start_.push_back(slot_start_.back() + item.count);
    for_ranges(item, sections_, [&](int first, int last) {
      for (int s = first; s < last; ++s) ++member_start_[s + 1];
    });
  }
  for (int s = 0; s < sections_; ++s) member_start_[s + 1] += member_start_[s];
  members_.resize(static_cast<std::size_t>(slot_start_.back()) + 1);
  slot_.resize(members_.size());
  for (int i = 0; i < static_cast<int>(items_.size()); ++i) {
    int* slot = &slot_[slot_start_[i]];
    for_ranges(items_[i], sections_, [&](int first, int last) {
      for (int s = first; s < last; ++s) {
        *slot = live_[s]++;
        members_[member_start_[s] + *slot++] = i;
      }
    });
  }
}

bool Skyline::reset() {
  trail_.clear();
  std::fill(load_.begin(), load_.end(), 0);
  std::fill(live_.begin(), live_.end(), 0);
  std::fill(crossing_.begin(), crossing_.end(), 0);
  floor_ = base_;
  for (int i = 0; i < static_cast<int>(items_.size()); ++i) {
    put_back(i);
    lowest_[i] = 0;
    for_ranges(items_[i], sections_, [&](int first, int last) {
      lowest_[i] = std::max(lowest_[i], *std::max_element(&floor_[first], &floor_[last - 1] + 1));
    });
    if (lowest_[i] + items_[i].size > ceiling_) return false;
  }
  for (int s = 0; s < sections_; ++s) {
    if (floor_[s] + load_[s] > ceiling_ || !settle(s)) return false;
  }
  trail_.clear();
  return true;
}

void Skyline::undo_to(std::size_t mark) {
  while (trail_.size() > mark) {
    const Change& change = trail_.back();
    switch (change.field) {
      case Field::kFloor:
        floor_[change.index] = change.before;
        break;
      case Field::kLowest:
        lowest_[change.index] = change.before;
        break;
      case Field::kCandidates:
        candidates_[change.index] = static_cast<int>(change.before);
        break;
      case Field::kPlaced:
        put_back(change.index);
        break;
    }
    trail_.pop_back();
  }
}

void Skyline::take_out(int i) {
  const Item& item = items_[i];
  placed_[i] = 1;
  has_new_cut_ = false;
  int* slot = &slot_[slot_start_[i]];
  for_ranges(item, sections_, [&](int first, int last) {
    for (int s = first; s < last; ++s, ++slot) {
      load_[s] -= item.size;
      if (s != item.first || item.count == sections_) {
        has_new_cut_ |= --crossing_[s] == 0;
      }
      int* members = &members_[member_start_[s]];
      const int end = --live_[s];
      has_new_cut_ |= end == 0;
      const int other = members[end];
      int position = s - items_[other].first;
      if (position < 0) position += sections_;
      std::swap(members[*slot], members[end]);
      slot_[slot_start_[other] + position] = *slot;
      *slot = end;
    }
  });
}

// Undoes the latest take_out: the item still stands right behind the live members.
void Skyline::put_back(int i) {
  const Item& item = items_[i];
  placed_[i] = 0;
  for_ranges(item, sections_, [&](int first, int last) {
    for (int s = first; s < last; ++s) {
      load_[s] += item.size;
      if (s != item.first || item.count == sections_) ++crossing_[s];
      ++live_[s];
    }
  });
}

bool Skyline::place(int i) {
  const Units top = lowest_[i] + items_[i].size;
  take_out(i);
  trail_.push_back({Field::kPlaced, i, 0});
  bool fits = true;
  for_ranges(items_[i], sections_, [&](int first, int last) {
    for (int s = first; s < last; ++s) set_floor(s, top);
  });
  for_ranges(items_[i], sections_, [&](int first, int last) {
    for (int s = first; s < last && fits; ++s) fits = lift_items(s);
  });
  for_ranges(items_[i], sections_, [&](int first, int last) {
    for (int s = first; s < last && fits; ++s) fits = settle(s);
  });
  return fits;
}

bool Skyline::raise(int section, Units level) {
  set_floor(section, level);
  return lift_items(section) && settle(section);
}

bool Skyline::lift_items(int section) {
  const Units level = floor_[section];
  if (level + load_[section] > ceiling_) return false;
  work_ += live_[section];
  for (const int i : unplaced(section)) {
    if (lowest_[i] < level && !lift(i, level)) return false;
  }
  return true;
}

bool Skyline::lift(int i, Units level) {
  if (level + items_[i].size > ceiling_) return false;
  work_ += items_[i].count;
  const Units before = lowest_[i];
  trail_.push_back({Field::kLowest, i, before});
  lowest_[i] = level;
  bool fits = true;
  for_ranges(items_[i], sections_, [&](int first, int last) {
    for (int s = first; s < last && fits; ++s) {
      if (floor_[s] != before) continue;
      set_candidates(s, candidates_[s] - 1);
      if (candidates_[s] == 0) fits = settle(s);
    }
  });
  return fits;
}

bool Skyline::settle(int section) {
  Units lowest = kNever, second = kNever, lowest_sizes = 0;
  int count = 0;
  work_ += live_[section];
  for (const int i : unplaced(section)) {
    if (lowest_[i] < lowest) {
      second = lowest;
      lowest = lowest_[i];
      lowest_sizes = 0;
      count = 0;
    }
    if (lowest_[i] == lowest) {
      ++count;
      lowest_sizes += items_[i].size;
    } else {
      second = std::min(second, lowest_[i]);
    }
  }
  set_candidates(section, count);
  if (count == 0) return true;
  if (lowest != floor_[section]) set_floor(section, lowest);
  if (lowest + load_[section] > ceiling_) return false;
  return second == kNever || second + load_[section] - lowest_sizes <= ceiling_;
}

void Skyline::set_floor(int section, Units level) {
  trail_.push_back({Field::kFloor, section, floor_[section]});
  floor_[section] = level;
}

void Skyline::set_candidates(int section, int count) {
  if (candidates_[section] == count) return;
  trail_.push_back({Field::kCandidates, section, candidates_[section]});
  candidates_[section] = count;
}

}  // namespace ebb::layout
