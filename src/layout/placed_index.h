// Which placed items may meet a new one in time, lowest offset first.
//
// Lists of placed items are kept for blocks of sections at several widths; blocks of one width overlap by
// half, so that an item of up to half that width lies inside one of them. A query reads the lists of a single
// block: the narrowest that holds the item, or all sections. Items that live through a whole block meet all
// that lie in it, so only their addresses count: neighbours become one range, and thousands of small items
// that live long cost no more than a few. A list is put in order when it is read, because most are written
// many times before that.
#pragma once

#include <array>
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

// What may be in an item's way. Each list is by offset.
struct Neighbours {
  std::span<const PlacedItem> items;                  // contains others too: ask meets()
  std::array<std::span<const PlacedItem>, 2> ranges;  // of addresses that are taken all the while
  std::size_t size() const { return items.size() + ranges[0].size() + ranges[1].size(); }
};

class PlacedIndex {
 public:
  explicit PlacedIndex(int sections);

  void insert(const Item& item, Units offset);
  // Of an item of any sections. Valid until the next insertion.
  Neighbours near(const Item& item);
  bool meets(const Item& item, const PlacedItem& placed) const {
    const int ahead = placed.first - item.first;
    if (ahead >= 0) return ahead < item.count || placed.count > sections_ - ahead;
    return -ahead < placed.count || item.count > sections_ + ahead;
  }

 private:
  struct List {
    std::vector<PlacedItem> items;
    std::size_t ordered = 0;  // the first so many are in order; the others in that of their insertion
    void add(const PlacedItem& placed) { items.push_back(placed); }
    void put_in_order(std::vector<PlacedItem>& scratch);
    void join_neighbours();
  };
  struct Lists {
    List inside;   // begin or end in it
    List through;  // live through all of it
  };
  struct Level {
    int step = 0;  // block k covers sections [k * step, (k + 2) * step)
    std::vector<Lists> blocks;
  };

  int sections_;
  std::vector<Level> levels_;  // narrowest first
  List all_;                   // but those in `everywhere_`
  List everywhere_;            // through all sections; in no block's lists
  std::vector<PlacedItem> scratch_;
};

}  // namespace ebb::layout
