#include "runtime/lifetimes.h"

#include <utility>

namespace ebb {

void Lifetimes::free(PagedBlock& block) {
  block.freed = true;
  if (std::exchange(block.stuck, false)) --block.pins;
  if (!guide_.keeps_freed(block)) let_go(block);
}

void Lifetimes::let_go(PagedBlock& block) {
  if (!recipes_.detach(block).empty()) ++statistics_.kept_for_replay;
  reap(block.handle);
}

void Lifetimes::erase(PagedBlock& block) {
  pager_.release(block);
  table_.erase(block.handle);
}

bool Lifetimes::reap_one(Handle handle) {
  PagedBlock* block = table_.find(handle);
  if (!block || !block->freed || block->pins > 0 || block->keeps > 0 || block->changing > 0) return false;
  if (recipes_.needed(*block)) return false;
  if (block->dropped()) recipes_.forget(handle);
  erase(*block);
  return true;
}

void Lifetimes::reap(Handle block) {
  reap_one(block);
  reap_released();
}

void Lifetimes::reap_all_released() {
  while (recipes_.any_released())
    for (const Handle handle : recipes_.take_released()) reap_one(handle);
}

}  // namespace ebb
