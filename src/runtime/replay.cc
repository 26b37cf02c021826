#include "runtime/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <tuple>

#include "runtime/operands.h"
#include "runtime/out_of_memory.h"
#include "trace/error.h"

namespace ebb {

namespace {

template <typename T>
void sort_and_unite(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

void Replay::run(std::span<PagedBlock* const> targets) {
  struct End {
    Replay& replay;
    ~End() { replay.end(); }
  } end{*this};
  begin(targets);
  for (std::size_t k = 0; k < steps_.size(); ++k) run_step(k);
}

void Replay::begin(std::span<PagedBlock* const> targets) {
  for (const PagedBlock* target : targets) {
    targets_.push_back(target->handle);
    const ReplayRecipe& recipe = parts_.recipes.recipe_of(*target);
    steps_.insert(steps_.end(), recipe.steps.begin(), recipe.steps.end());
    leaves_.insert(leaves_.end(), recipe.leaves.begin(), recipe.leaves.end());
  }
  if (targets.size() > 1) {
    sort_and_unite(steps_);
    sort_and_unite(leaves_);
  }
  for (const Handle leaf : leaves_) keeps_.add(*parts_.table.find(leaf));
  if (steps_.size() == 1) return;  // nothing is read later
  for (std::size_t k = 0; k < steps_.size(); ++k)
    for (const StepInput& input : parts_.recipes.step(steps_[k]).inputs)
      readings_.push_back({input.block, input.version, k});
  std::sort(readings_.begin(), readings_.end());
}

void Replay::end() {
  cast_.clear();
  remove_scratch();
  for (const Temporary& temporary : temporaries_) parts_.lifetimes.erase(*temporary.block);
  temporaries_.clear();
  readings_.clear();
  keeps_.clear();
  for (const Handle leaf : leaves_) parts_.lifetimes.reap(leaf);
  for (const Handle block : returned_) parts_.lifetimes.reap(block);
  targets_.clear();
  steps_.clear();
  leaves_.clear();
  returned_.clear();
}

bool Replay::read_later(Handle block, std::int64_t version, std::size_t index) const {
  const auto it = std::upper_bound(readings_.begin(), readings_.end(), Reading{block, version, index});
  return it != readings_.end() && it->block == block && it->version == version;
}

Replay::Temporary* Replay::temporary(Handle stands_for) {
  for (Temporary& temporary : temporaries_)
    if (temporary.stands_for == stands_for) return &temporary;
  return nullptr;
}

void Replay::remove_temporary(Handle stands_for) {
  Temporary& gone = *temporary(stands_for);
  parts_.lifetimes.erase(*gone.block);
  gone = temporaries_.back();
  temporaries_.pop_back();
}

void Replay::remove_scratch() {
  for (PagedBlock* block : scratch_) parts_.lifetimes.erase(*block);
  scratch_.clear();
}

PagedBlock* Replay::block_for(const StepInput& input) {
  if (const Temporary* made = temporary(input.block)) {
    assert(made->version == input.version && "a temporary holds another version than the step reads");
    return made->block;
  }
  PagedBlock* block = parts_.table.find(input.block);
  assert(block && block->version == input.version && block->has_bytes() && "an input of a replay is gone");
  return block;
}

void Replay::cast(const Step& step) {
  cast_.clear();
  for (const StepInput& input : step.inputs) cast_.add(input.block, block_for(input));
  for (const StepOutput& output : step.outputs)
    if (output.in_place) {
      cast_.changed.push_back(cast_.find(output.block));
    } else if (!output.birth) {
      PagedBlock& block = parts_.table.create(output.bytes);
      temporaries_.push_back({output.block, &block, output.version});
      cast_.add(output.block, &block);
    }
  for (const auto& [handle, bytes] : step.side_effects) {
    cast_.add(handle, scratch_.emplace_back(&parts_.table.create(bytes)));
  }
}

void Replay::pin(const Step& step, std::span<PagedBlock* const> blocks, Bytes inside) {
  if (!pin_together(parts_.pager, blocks, inside, cast_.pins))
    throw no_room_for(parts_.pager, fmt::format("replay of op {}", step.name()), blocks);
}

void Replay::run_function(const Step& step, ReplayFrame& frame) {
  try {
    const FrameEntry entry(parts_.frame, frame);
    step.function(frame);
  } catch (const AbandonOp&) {
  } catch (...) {
    parts_.pager.compute_advanced();
    throw;
  }
  parts_.pager.compute_advanced();
}

bool Replay::try_function(const Step& step, bool may_abandon) {
  pin(step, cast_.blocks, 0);
  const bool room_is_sure = parts_.guide.make_room_for(step);
  if (!room_is_sure) pin(step, cast_.blocks, step.inside_peak);
  if (may_abandon && !room_is_sure && !parts_.pager.has_hole(step.inside_peak))
    std::ignore = back_up(parts_.pager, cast_.changed);
  for (PagedBlock* block : cast_.blocks) parts_.pager.begin_unseen_use(*block, true);
  ReplayFrame frame(parts_, step, cast_, may_abandon);
  run_function(step, frame);
  if (frame.abandoned()) {
    for (PagedBlock* block : cast_.changed) parts_.pager.restore(*block);
    return false;
  }
  for (const StepOutput& output : step.outputs) {
    if (output.birth) {
      PagedBlock* made = frame.take(output.block);
      if (!made)
        throw InputError(
            fmt::format("replay of op {}: it freed memory that it kept when it ran first", step.name()));
      temporaries_.push_back({output.block, made, output.version});
    } else {
      Temporary& changed = *temporary(output.block);
      parts_.pager.content_changed(*changed.block);
      changed.version = output.version;
    }
  }
  return true;
}

void Replay::run_step(std::size_t index) {
  const Step& step = parts_.recipes.step(steps_[index]);
  cast(step);
  struct Named {
    SurpriseLog& log;
    ~Named() { log.replay_ended(); }
  } named{parts_.pager.surprises()};
  named.log.replay_began(step.name());
  if (!try_function(step, true)) {
    ++parts_.statistics.abandoned_ops;
    cast_.pins.clear();
    parts_.pager.compact({});
    const bool done = try_function(step, false);
    assert(done && "an op was abandoned that must not be");
    std::ignore = done;
  }
  cast_.pins.clear();
  remove_scratch();
  ++parts_.statistics.replays;
  settle_outputs(step, index);
}

void Replay::settle_outputs(const Step& step, std::size_t index) {
  for (const StepOutput& output : step.outputs) {
    PagedBlock* block = parts_.table.find(output.block);
    const bool is_back = block && block->dropped() && block->version == output.version;
    const bool is_target = std::find(targets_.begin(), targets_.end(), output.block) != targets_.end();
    if (is_back && (is_target || parts_.guide.keeps_replayed(step, *block))) {
      parts_.pager.adopt(*block, *temporary(output.block)->block);
      parts_.recipes.forget(block->handle);
      keeps_.add(*block);
      returned_.push_back(block->handle);
      ++parts_.statistics.remakes;
      remove_temporary(output.block);
    } else if (!read_later(output.block, output.version, index)) {
      remove_temporary(output.block);
    }
  }
  for (const StepInput& input : step.inputs) {
    const Temporary* read = temporary(input.block);
    if (read && read->version == input.version && !read_later(input.block, input.version, index))
      remove_temporary(input.block);
  }
}

}  // namespace ebb
