// An op that runs for the first time: what it works on, and what its function sees.
#pragma once

#include "runtime/op_history.h"
#include "runtime/recorder.h"
#include "runtime/remaker.h"

namespace ebb {

struct Operand {
  PagedBlock* block = nullptr;
  bool reads = false;
  bool writes = false;
  bool side_effect = false;
  bool ready = false;    // pinned
  bool exposed = false;  // the function may have changed it in place …
  bool guarded = false;  // … and the host had its content before
  // Before the op.
  std::int64_t version = 0;
  StepId maker = kNoStep;

  bool changes() const { return writes || side_effect; }
  // Does the op start from the bytes that it changes?
  bool in_place() const { return side_effect || (writes && version > 0); }
  bool can_be_undone() const { return !exposed || (guarded && block->clean()); }
};

struct Birth {
  PagedBlock* block = nullptr;  // nullptr: freed in the op
  Handle handle = 0;
  Bytes bytes = 0;
};

// All that is known of an op while it runs. Pins and holds go with it.
struct OpCall {
  std::string_view name;
  bool replayable = false;
  bool random = false;
  bool wants_recipe = false;  // it may be run again
  bool may_abandon = false;   // this time
  bool abandoned = false;
  bool recorded = false;  // it will be written down: then `memory` is
  std::uint64_t seed = 0;
  Bytes inside = 0;
  Bytes inside_peak = 0;
  std::vector<Operand> operands = {};
  std::vector<Birth> births = {};  // in malloc order
  PinnedBlocks pins = {};
  KeptBlocks keeps = {};
  ChangingBlocks changing = {};
  std::vector<Handle> freed_after = {};  // freed in the op, not its own
  ExecFunction recipe = {};              // what to run again, if its function said so
  SideEffects recipe_effects = SideEffects::as_before;
  std::vector<RecordedMemory> memory = {};
  std::uint64_t signature = 0;  // by which history knows it, where no plan does

  // For the next op; keeps what its vectors have allocated.
  void clear() {
    if (recipe) recipe = nullptr;
    recipe_effects = SideEffects::as_before;
    operands.clear();
    births.clear();
    memory.clear();
    freed_after.clear();
    inside = inside_peak = 0;
    abandoned = false;
    release();
  }
  // Pins and holds.
  void release() {
    pins.clear();
    keeps.clear();
    changing.clear();
  }
};

// Prepares an operand of the call: takes care of recipes that its change would break, and makes it again if
// it is dropped. It may be on the host afterwards.
void prepare_operand(Remaker& remaker, OpCall& call, Operand& operand);
// The same for one of a nested op, which the call may have already.
void add_operand(Remaker& remaker, OpCall& call, const Operand& operand);

// The operands of an exec, a block once with all its roles. Throws InputError naming the op and a block that
// is dead.
void list_operands(const BlockTable& table, const OpInfo& info, std::span<const Handle> reads,
                   std::span<const Handle> writes, std::vector<Operand>& operands);

[[noreturn]] void refuse_dead_block(Handle handle, std::string_view op);
// The block of a handle that the program may use. Throws InputError naming the op.
inline PagedBlock& live_block(const BlockTable& table, Handle handle, std::string_view op) {
  const PagedBlock* block = table.find(handle);
  if (!block || block->freed) refuse_dead_block(handle, op);
  return const_cast<PagedBlock&>(*block);
}

// What history knows an op by.
std::uint64_t signature_of(std::string_view name, std::span<const Operand> operands);

// The function may change operands in place from now on. If it may run out of memory, the host gets their
// content first, as far as it has room; what was exposed before is past that.
void expose(Pager& pager, OpCall& call, bool room_is_sure);

class LiveFrame final : public OpFrame {
 public:
  // REQUIRES: all outlive the frame.
  LiveFrame(const RuntimeParts& parts, Remaker& remaker, OpHistory& history, OpCall& call)
      : parts_(parts), remaker_(remaker), history_(history), call_(call), seed_(call.seed) {}

  std::byte* data(Handle block) override;
  Handle malloc(Bytes bytes) override;
  void free(Handle block) override;
  std::uint64_t seed() const override { return seed_; }
  bool wants_recipe() const override { return call_.wants_recipe && call_.replayable; }
  void set_recipe(ExecFunction recipe, SideEffects effects) override {
    call_.recipe_effects = effects;
    call_.replayable = call_.replayable && recipe != nullptr;
    call_.recipe = std::move(recipe);
  }
  void nested(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
              const ExecFunction& function) override;

 private:
  void prepare_nested(std::span<const Operand> operands, std::optional<Bytes> inside);
  bool can_abandon() const;
  [[noreturn]] void give_up(Bytes bytes);

  const RuntimeParts& parts_;
  Remaker& remaker_;
  OpHistory& history_;
  OpCall& call_;
  std::uint64_t seed_;
  std::uint64_t nested_ = 0;
};

}  // namespace ebb
