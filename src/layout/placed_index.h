// Which placed items may meet a new one in time, lowest offset first.
//
// Lists of placed items are kept for blocks of sections at several widths; blocks of one width overlap by
// half, so that an item of up to half that width lies inside one of them. A query reads a single list: the
// one of the narrowest block that holds the item, or the list of all items. A list is put in order when it is
// read, because most are written many times before that.
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
  std::span<const PlacedItem> near(const Item& item);
  bool meets(const Item& item, const PlacedItem& placed) const {
    const int ahead = placed.first - item.first;
    if (ahead >= 0) return ahead < item.count || placed.count > sections_ - ahead;
    return -ahead < placed.count || item.count > sections_ + ahead;
  }

 private:
  struct List {
    std::vector<PlacedItem> items;
    std::size_t ordered = 0;  // the first so many are in order; the others in that of their insertion
    void put_in_order(std::vector<PlacedItem>& scratch);
  };
  struct Level {
    int step = 0;  // block k covers sections [k * step, (k + 2) * step)
    std::vector<List> blocks;
  };

  int sections_;
  std::vector<Level> levels_;  // narrowest first
  List all_;
  std::vector<PlacedItem> scratch_;
};

}  // namespace ebb::layout
