#include "runtime/lifetimes.h"

#include <utility>

namespace ebb {

void Lifetimes::free(PagedBlock& block) {
  block.freed = true;
  if (std::exchange(block.stuck, false)) --block.pins;
  if (!guide_.keeps_freed(block)) let_go(block);
}

void Lifetimes::let_go(PagedBlock& block) {
  if (recipes_.needed(block) && !recipes_.detach(block).empty()) ++statistics_.kept_for_replay;
  reap_one(block);
  reap_released();
}

void Lifetimes::erase(PagedBlock& block) {
  pager_.release(block);
  table_.erase(block);
}

void Lifetimes::reap_one(PagedBlock& block) {
  if (!block.freed || block.pins > 0 || block.keeps > 0 || block.changing > 0) return;
  if (recipes_.needed(block)) return;
  if (block.dropped()) recipes_.forget(block.handle);
  erase(block);
}

void Lifetimes::reap(Handle handle) {
  if (PagedBlock* block = table_.find(handle)) reap_one(*block);
  reap_released();
}

void Lifetimes::reap_all_released() {
  while (recipes_.any_released()) {
    recipes_.take_released(released_);
    for (const Handle handle : released_)
      if (PagedBlock* block = table_.find(handle)) reap_one(*block);
  }
}

}  // namespace ebb
