// When a block's memory goes: the program has freed it, nobody has it pinned, no dropped block needs its
// bytes, and no plan keeps it for a replay.
#pragma once

#include "runtime/guide.h"

namespace ebb {

class Lifetimes {
 public:
  // REQUIRES: all outlive this.
  Lifetimes(BlockTable& table, Pager& pager, RecipeBook& recipes, DeviceStatistics& statistics,
            const GuideSlot& guide)
      : table_(table), pager_(pager), recipes_(recipes), statistics_(statistics), guide_(guide) {}

  // The program is done with it. Recipes that read it find another way or its bytes stay for them; never
  // fails.
  void free(PagedBlock& block);
  // A plan kept it since it was freed, until now.
  void let_go(PagedBlock& block);
  // A temporary: nobody else knows it.
  void erase(PagedBlock& block);
  // Lets the block go if it is time; call it when one of its counters has fallen.
  void reap(Handle block);
  // The same for all that recipes have stopped needing.
  void reap_released() {
    if (recipes_.any_released()) reap_all_released();
  }

 private:
  void reap_all_released();
  void reap_one(PagedBlock& block);

  BlockTable& table_;
  Pager& pager_;
  RecipeBook& recipes_;
  DeviceStatistics& statistics_;
  const GuideSlot& guide_;
  std::vector<Handle> released_;  // that are reaped; kept so that it allocates nothing in the long run
};

}  // namespace ebb
