// What a function sees when it is run again: its handles stand for other blocks, and its k-th malloc is its
// k-th birth once more. A malloc of another size is an extra one.
#pragma once

#include <algorithm>

#include "runtime/remaker.h"

namespace ebb {

// The blocks a step runs on. Few: a vector is searched faster than a hash table is made.
struct ReplayCast {
  std::vector<Handle> handles;       // as the function knows them …
  std::vector<PagedBlock*> blocks;   // … and what stands for each
  std::vector<PagedBlock*> changed;  // of these, in place
  std::vector<PagedBlock*> births;   // so far, in malloc order; nullptr: freed, or somebody else's now
  PinnedBlocks pins;

  void add(Handle handle, PagedBlock* block) {
    handles.push_back(handle);
    blocks.push_back(block);
  }
  // nullptr: it is none of them.
  PagedBlock* find(Handle handle) const;
  // For another step; keeps the memory it has.
  void clear();
};

class ReplayFrame final : public OpFrame {
 public:
  // REQUIRES: all outlive the frame.
  ReplayFrame(const RuntimeParts& parts, const Step& step, ReplayCast& cast, bool may_abandon);
  ~ReplayFrame() override;  // lets the births go that nobody took

  std::byte* data(Handle block) override;
  Handle malloc(Bytes bytes) override;
  void free(Handle block) override;
  std::uint64_t seed() const override { return seed_; }
  bool is_extra(Handle block) const override {
    return std::find(extras_.begin(), extras_.end(), block) != extras_.end();
  }
  void nested(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
              const ExecFunction& function) override;

  bool abandoned() const { return abandoned_; }
  // The block made for a birth, now the caller's; nullptr if it was freed.
  PagedBlock* take(Handle birth);

 private:
  bool can_undo() const;
  PagedBlock** birth(Handle handle);
  void unpin_and_erase(PagedBlock& block);

  const RuntimeParts& parts_;
  const Step& step_;
  ReplayCast& cast_;
  std::vector<Handle> extras_;
  std::uint64_t seed_;
  std::uint64_t nested_ = 0;
  bool may_abandon_;
  bool abandoned_ = false;
};

}  // namespace ebb
