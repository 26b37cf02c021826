// The state of a valley search: which items are placed, the floor of each section, the least offset each
// unplaced item can still have. Every change is written to a trail and can be undone.
//
// Invariants, after each call that has returned true:
//   lowest(i) >= the highest floor under the unplaced item i,
//   floor(s)  = the least `lowest` among the unplaced items of section s, if there are any.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "layout/sections.h"

namespace ebb::layout {

class Skyline {
 public:
  // REQUIRES: the instance outlives the skyline.
  Skyline(const Instance& instance, Units ceiling);

  // Forgets all placements. False if the ceiling is too low even before the first placement.
  bool reset();
  // Sets an item on the floor. False if the rest can then not stay below the ceiling: undo.
  // REQUIRES: the item is unplaced and all floors under it are equal.
  bool place(int item);
  // Lets no item lie below `level` in this section. False as for place.
  bool raise(int section, Units level);
  // Lets one unplaced item lie no lower than `level`, above its `lowest`. False as for place.
  bool lift(int item, Units level);

  // Elementary operations since the last call, about a nanosecond each.
  std::int64_t take_work() { return std::exchange(work_, 0); }

  // True if the latest place() may have cut the ring in a new place.
  bool has_new_cut() const { return has_new_cut_; }

  std::size_t mark() const { return trail_.size(); }
  void undo_to(std::size_t mark);

  bool is_placed(int item) const { return placed_[item] != 0; }
  // The offset of a placed item, the least offset of an unplaced one.
  Units lowest(int item) const { return lowest_[item]; }
  Units floor(int section) const { return floor_[section]; }
  // Room in the section that no unplaced item will fill.
  Units slack(int section) const { return ceiling_ - floor_[section] - load_[section]; }
  // How many unplaced items of the section can lie on its floor, as far as is known.
  int candidates(int section) const { return candidates_[section]; }
  // How many unplaced items lie both in this section and in the one before it on the ring.
  int crossing(int section) const { return crossing_[section]; }
  // The unplaced items of the section, in no particular order.
  std::span<const int> unplaced(int section) const {
    return {&members_[member_start_[section]], static_cast<std::size_t>(live_[section])};
  }

  int sections() const { return sections_; }
  const Item& item(int i) const { return items_[i]; }

 private:
  enum class Field : std::uint8_t { kFloor, kLowest, kCandidates, kPlaced };
  struct Change {
    Field field;
    int index;
    Units before;
  };

  void take_out(int item);
  void put_back(int item);
  // Items of the section that are still thought to lie below its floor move up to it.
  bool lift_items(int section);
  // Brings a floor up to the lowest of the section's items and counts the items there.
  bool settle(int section);
  void set_floor(int section, Units level);
  void set_candidates(int section, int count);

  const std::vector<Item>& items_;
  const std::vector<Units>& base_;
  int sections_;
  Units ceiling_;
  std::vector<Units> floor_, load_;
  std::vector<int> candidates_, crossing_;
  std::vector<Units> lowest_;
  std::vector<char> placed_;
  // Members of section s: members_[member_start_[s]] on, the first live_[s] of them unplaced. A member that
  // is taken out changes places with the last live one; slot_ says where the k-th section of an item holds
  // it.
  std::vector<int> member_start_, members_, live_;
  std::vector<int> slot_start_, slot_;
  std::vector<Change> trail_;
  std::int64_t work_ = 0;
  bool has_new_cut_ = false;
};

}  // namespace ebb::layout
