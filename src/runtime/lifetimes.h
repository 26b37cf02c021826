// When a block's memory goes: the program has freed it, nobody has it pinned, and no dropped block needs its
// bytes.
#pragma once

#include "runtime/pager.h"

namespace ebb {

class Lifetimes {
 public:
  // REQUIRES: all outlive this.
  Lifetimes(BlockTable& table, Pager& pager, RecipeBook& recipes, DeviceStatistics& statistics)
      : table_(table), pager_(pager), recipes_(recipes), statistics_(statistics) {}

  // The program is done with it. Recipes that read it find another way or its bytes stay for them; never
  // fails.
  void free(PagedBlock& block);
  // A temporary: nobody else knows it.
  void erase(PagedBlock& block);
  // Lets the block go if it is time; call it when one of its counters has fallen.
  void reap(Handle block);
  // The same for all that recipes have stopped needing.
  void reap_released();

 private:
  bool reap_one(Handle block);

  BlockTable& table_;
  Pager& pager_;
  RecipeBook& recipes_;
  DeviceStatistics& statistics_;
};

}  // namespace ebb
