// Brings dropped blocks back by running the steps of their recipes again, in order of execution
// (docs/notes/runtime.md).
#pragma once

#include "runtime/guide.h"
#include "runtime/lifetimes.h"
#include "runtime/op_frame.h"

namespace ebb {

// What the parts of a Device that run functions share.
struct RuntimeParts {
  BlockTable& table;
  Pager& pager;
  RecipeBook& recipes;
  Lifetimes& lifetimes;
  DeviceStatistics& statistics;
  FrameSlot& frame;
  GuideSlot& guide;
};

class Replay;

class Remaker {
 public:
  // REQUIRES: the parts outlive the remaker.
  explicit Remaker(const RuntimeParts& parts);
  ~Remaker();

  // One replay for all of them: a step that several need runs once. Also brings back other dropped blocks
  // whose content the replay passes. If a function throws, or memory does not suffice (OutOfMemory), those it
  // did not come to stay dropped. REQUIRES: all are dropped.
  void remake(std::span<PagedBlock* const> blocks);
  void remake(PagedBlock& block) {
    PagedBlock* const one[] = {&block};
    remake(one);
  }
  // Call before the content of a block changes: recipes that read it find another way, or their blocks come
  // back, held by `kept` against being dropped again. REQUIRES: the block is marked as changing until it has
  // changed.
  void prepare_change(PagedBlock& block, KeptBlocks& kept) {
    if (parts_.recipes.needed(block)) bring_back(parts_.recipes.detach(block), kept);
    parts_.lifetimes.reap_released();
  }
  // Forgets some of the oldest steps if there are too many. Call it before every op.
  void expire_steps() {
    if (parts_.recipes.full(parts_.statistics.ops)) expire_some();
  }

 private:
  void bring_back(std::span<const Handle> stranded, KeptBlocks& kept);
  void expire_some();

  const RuntimeParts& parts_;
  std::unique_ptr<Replay> spare_;  // that ran before
};

}  // namespace ebb
