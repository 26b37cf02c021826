#include "runtime/replay.h"

#include <fmt/format.h>

#include <cassert>
#include <tuple>

#include "runtime/operands.h"
#include "runtime/out_of_memory.h"
#include "runtime/replay_frame.h"
#include "trace/error.h"

namespace ebb {

Replay::Replay(const RuntimeParts& parts, Handle target, ReplayRecipe recipe)
    : parts_(parts), target_(target), recipe_(std::move(recipe)) {
  for (const Handle leaf : recipe_.leaves) keeps_.emplace_back(*parts_.table.find(leaf), &PagedBlock::keeps);
  for (std::size_t k = 0; k < recipe_.steps.size(); ++k)
    for (const StepInput& input : parts_.recipes.step(recipe_.steps[k]).inputs)
      last_reader_[{input.block, input.version}] = k;
}

Replay::~Replay() {
  remove_scratch();
  for (const auto& [handle, temporary] : temporaries_) parts_.lifetimes.erase(*temporary.block);
  keeps_.clear();
  for (const Handle leaf : recipe_.leaves) parts_.lifetimes.reap(leaf);
  for (const Handle block : returned_) parts_.lifetimes.reap(block);
}

void Replay::run() {
  for (std::size_t k = 0; k < recipe_.steps.size(); ++k) run_step(k);
}

bool Replay::read_later(Handle block, std::int64_t version, std::size_t index) const {
  const auto it = last_reader_.find({block, version});
  return it != last_reader_.end() && it->second > index;
}

PagedBlock& Replay::add_temporary(Handle stands_for, Bytes bytes, std::int64_t version) {
  PagedBlock& block = parts_.table.create(bytes);
  temporaries_[stands_for] = {&block, version};
  return block;
}

void Replay::remove_temporary(Handle stands_for) {
  const auto it = temporaries_.find(stands_for);
  parts_.lifetimes.erase(*it->second.block);
  temporaries_.erase(it);
}

void Replay::remove_scratch() {
  for (PagedBlock* block : scratch_) parts_.lifetimes.erase(*block);
  scratch_.clear();
}

PagedBlock* Replay::block_for(const StepInput& input) {
  if (const auto it = temporaries_.find(input.block); it != temporaries_.end()) {
    assert(it->second.version == input.version && "a temporary holds another version than the step reads");
    return it->second.block;
  }
  PagedBlock* block = parts_.table.find(input.block);
  assert(block && block->version == input.version && block->has_bytes() && "an input of a replay is gone");
  return block;
}

Replay::Cast Replay::cast_of(const Step& step) {
  Cast cast;
  const auto add = [&](Handle handle, PagedBlock* block) {
    cast.by_handle[handle] = block;
    cast.blocks.push_back(block);
  };
  for (const StepInput& input : step.inputs) add(input.block, block_for(input));
  for (const StepOutput& output : step.outputs)
    if (output.in_place)
      cast.changed.push_back(cast.by_handle.at(output.block));
    else if (!output.birth)
      add(output.block, &add_temporary(output.block, output.bytes, output.version));
  for (const auto& [handle, bytes] : step.side_effects) {
    PagedBlock* scratch = scratch_.emplace_back(&parts_.table.create(bytes));
    add(handle, scratch);
    PagedBlock* live = parts_.table.find(handle);
    if (!live || !live->has_bytes()) continue;
    cast.keeps.emplace_back(*live, &PagedBlock::keeps);
    cast.scratch_copies.emplace_back(scratch, live);
  }
  return cast;
}

bool Replay::try_function(const Step& step, Cast& cast, bool may_abandon) {
  std::vector<BlockHold> pins;
  const auto pin = [&](std::span<PagedBlock* const> blocks, Bytes inside) {
    if (!pin_together(parts_.pager, blocks, inside, pins))
      throw OutOfMemory(fmt::format("replay of op {}: no room for its operands of {} bytes: {}", step.name,
                                    arena_bytes(blocks), parts_.pager.describe()));
  };
  for (const auto& [to, from] : cast.scratch_copies) {
    PagedBlock* const both[] = {to, from};
    pin(both, 0);
    parts_.pager.begin_unseen_use(*to, true);
    parts_.pager.begin_unseen_use(*from, false);
    parts_.pager.copy_within(*to, *from);
    parts_.pager.content_changed(*to);
  }
  pin(cast.blocks, 0);
  const bool room_is_sure = parts_.guide.make_room_for(step);
  if (!room_is_sure) pin(cast.blocks, step.inside_peak);
  if (may_abandon && !room_is_sure && parts_.pager.largest_hole() < step.inside_peak)
    std::ignore = back_up(parts_.pager, cast.changed);
  for (PagedBlock* block : cast.blocks) parts_.pager.begin_unseen_use(*block, true);
  ReplayFrame frame(parts_, step, cast.by_handle, may_abandon);
  try {
    const FrameEntry entry(parts_.frame, frame);
    step.function(frame);
  } catch (const AbandonOp&) {
  } catch (...) {
    parts_.pager.compute_advanced();
    throw;
  }
  parts_.pager.compute_advanced();
  if (frame.abandoned()) {
    for (PagedBlock* block : cast.changed) parts_.pager.restore(*block);
    return false;
  }
  for (const StepOutput& output : step.outputs) {
    if (output.birth) {
      PagedBlock* made = frame.take(output.block);
      if (!made)
        throw InputError(
            fmt::format("replay of op {}: it freed memory that it kept when it ran first", step.name));
      temporaries_[output.block] = {made, output.version};
    } else {
      Temporary& temporary = temporaries_.at(output.block);
      parts_.pager.content_changed(*temporary.block);
      temporary.version = output.version;
    }
  }
  return true;
}

void Replay::run_step(std::size_t index) {
  const Step& step = parts_.recipes.step(recipe_.steps[index]);
  Cast cast = cast_of(step);
  struct Named {
    SurpriseLog& log;
    std::string outer;
    ~Named() { log.replay_ended(outer); }
  } named{parts_.pager.surprises(), parts_.pager.surprises().replay_began(step.name)};
  if (!try_function(step, cast, true)) {
    ++parts_.statistics.abandoned_ops;
    parts_.pager.compact({});
    const bool done = try_function(step, cast, false);
    assert(done && "an op was abandoned that must not be");
    std::ignore = done;
  }
  remove_scratch();
  ++parts_.statistics.replays;
  settle_outputs(step, index);
}

void Replay::settle_outputs(const Step& step, std::size_t index) {
  for (const StepOutput& output : step.outputs) {
    PagedBlock* block = parts_.table.find(output.block);
    const bool is_back = block && block->dropped() && block->version == output.version;
    if (is_back && (output.block == target_ || parts_.guide.keeps_replayed(step, *block))) {
      parts_.pager.adopt(*block, *temporaries_.at(output.block).block);
      parts_.recipes.forget(block->handle);
      keeps_.emplace_back(*block, &PagedBlock::keeps);
      returned_.push_back(block->handle);
      ++parts_.statistics.remakes;
      remove_temporary(output.block);
    } else if (!read_later(output.block, output.version, index)) {
      remove_temporary(output.block);
    }
  }
  for (const StepInput& input : step.inputs) {
    const auto it = temporaries_.find(input.block);
    if (it != temporaries_.end() && it->second.version == input.version &&
        !read_later(input.block, input.version, index))
      remove_temporary(input.block);
  }
}

}  // namespace ebb
