// What a function sees when it is run again: its handles stand for other blocks, and its k-th malloc is its
// k-th birth once more. A malloc of another size is an extra one.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "runtime/remaker.h"

namespace ebb {

class ReplayFrame final : public OpFrame {
 public:
  // REQUIRES: all outlive the frame.
  ReplayFrame(const RuntimeParts& parts, const Step& step,
              const std::unordered_map<Handle, PagedBlock*>& operands, bool may_abandon);
  ~ReplayFrame() override;  // lets the births go that nobody took

  std::byte* data(Handle block) override;
  Handle malloc(Bytes bytes) override;
  void free(Handle block) override;
  std::uint64_t seed() const override { return seed_; }
  bool is_extra(Handle block) const override { return extras_.contains(block); }
  void nested(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
              const ExecFunction& function) override;

  bool abandoned() const { return abandoned_; }
  // The block made for a birth, now the caller's; nullptr if it was freed.
  PagedBlock* take(Handle birth);

 private:
  bool can_undo() const;
  void unpin_and_erase(PagedBlock& block);

  const RuntimeParts& parts_;
  const Step& step_;
  const std::unordered_map<Handle, PagedBlock*>& operands_;
  std::unordered_map<Handle, PagedBlock*> births_;
  std::unordered_set<Handle> extras_;
  std::size_t next_birth_ = 0;
  std::uint64_t seed_;
  std::uint64_t nested_ = 0;
  bool may_abandon_;
  bool abandoned_ = false;
};

}  // namespace ebb
