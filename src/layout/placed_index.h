// Which placed items may meet a new one in time, lowest offset first.
//
// Lists of placed items are kept for blocks of sections at several widths; blocks of one width overlap by
// half, so that an item of up to half that width lies inside one of them. A query reads a single list: the
// one of the narrowest block that holds the item, or the list of all items.
#pragma once

#include <span>
#include <vector>

#include "layout/sections.h"

namespace ebb::layout {

// An item with its address range.
struct PlacedItem {
  Units offset = 0;
  Units top = 0;
  int first = 0;
  int count = 0;
};

class PlacedIndex {
 public:
  explicit PlacedIndex(int sections);

  void insert(const Item& item, Units offset);
  // Placed items by offset; contains all that share a section with `item`, and others: ask meets().
  std::span<const PlacedItem> near(const Item& item) const;
  bool meets(const Item& item, const PlacedItem& placed) const {
    const int ahead = placed.first - item.first;
    if (ahead >= 0) return ahead < item.count || placed.count > sections_ - ahead;
    return -ahead < placed.count || item.count > sections_ + ahead;
  }

 private:
  using List = std::vector<PlacedItem>;
  struct Level {
    int step = 0;  // block k covers sections [k * step, (k + 2) * step)
    std::vector<List> blocks;
  };

  static void insert_sorted(List& list, const PlacedItem& placed);

  int sections_;
  std::vector<Level> levels_;  // narrowest first
  List all_;
};

}  // namespace ebb::layout
