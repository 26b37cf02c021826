#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <tuple>

#include "runtime/mix.h"
#include "runtime/operands.h"
#include "runtime/out_of_memory.h"
#include "runtime/workspace.h"

namespace ebb {

namespace {

constexpr std::size_t kMostAbandonedBirths = 4096;

// Pins, holds and the op's name must not outlive it, however it ends.
class ClearedAfter {
 public:
  ClearedAfter(Pager& pager, OpCall& call) : pager_(pager), call_(call) {}
  ~ClearedAfter() {
    pager_.op_ended();
    call_.clear();
  }
  ClearedAfter(const ClearedAfter&) = delete;
  ClearedAfter& operator=(const ClearedAfter&) = delete;

 private:
  Pager& pager_;
  OpCall& call_;
};

}  // namespace

Executor::Executor(Backend& backend, const RuntimeParts& parts, Recorder& recorder,
                   const ExecutorOptions& options)
    : backend_(backend),
      parts_(parts),
      recorder_(recorder),
      options_(options),
      remaker_(parts_),
      timer_(backend, parts.recipes, recorder),
      clock_(backend, parts.pager, options.clock) {}

void Executor::exec(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
                    const ExecFunction& function) {
  if (parts_.frame.current) return parts_.frame.current->nested(info, reads, writes, function);
  Timing timing{.entered = time()};
  timing.issue = timing.entered - held_;
  update_times();
  remaker_.expire_steps();
  parts_.pager.op_began(info.name);
  OpCall& call = call_;
  const ClearedAfter cleared(parts_.pager, call);
  call.name = info.name;
  call.replayable = info.replayable;
  call.random = info.random;
  call.may_abandon = parts_.pager.may_move();
  call.seed = mix(options_.seed, static_cast<std::uint64_t>(++parts_.statistics.ops));
  try {
    list_operands(parts_.table, info, reads, writes, call.operands);
    const bool guided = parts_.guide.current && parts_.guide.current->op_begins({info.name, call.operands});
    call.recorded = !recorder_.paused();
    decide_recipe(call, guided);
    for (Operand& operand : call.operands) prepare_operand(remaker_, call, operand);
    if (!guided) call.signature = signature_of(call.name, call.operands);
    bring_together(call, guided ? std::nullopt : history_.inside_peak(call.signature), guided);
    if (!attempt(call, function, timing)) {
      ++parts_.statistics.abandoned_ops;
      timing.function_ran = false;
      const Bytes inside = call.inside_peak;
      undo(call);
      if (parts_.guide.current) parts_.guide.current->op_restarts();
      parts_.pager.compact({});
      if (guided) call.signature = signature_of(call.name, call.operands);
      bring_together(call, inside, false);
      attempt(call, function, timing);
    }
    if (!guided) history_.remember(call.signature, call.inside_peak);
  } catch (...) {
    if (timing.function_ran)
      finish(info, call, function, timing, false);
    else
      let_go(call);
    throw;
  }
  finish(info, call, function, timing, true);
}

// The plan that is followed knows whether the op will be run again. If not, only who writes it down asks
// whether it could be.
void Executor::decide_recipe(OpCall& call, bool guided) {
  call.wants_recipe = call.replayable && options_.keep_recipes;
  const bool unneeded = call.wants_recipe && guided && !parts_.guide.current->needs_recipe();
  if (!unneeded) return;
  call.wants_recipe = false;
  if (call.recorded) call.replayable = parts_.guide.current->was_replayable();
}

// Where a plan is followed, all are there.
bool Executor::pin_if_all_are_there(OpCall& call) {
  for (const Operand& operand : call.operands) {
    if (!operand.block->resident()) return false;
    call.pins.add(*operand.block);
  }
  return true;
}

void Executor::bring_together(OpCall& call, std::optional<Bytes> inside, bool guided) {
  const auto pin = [&](Bytes hole) {
    call.pins.clear();
    blocks_.clear();
    for (const Operand& operand : call.operands) {
      blocks_.push_back(operand.block);
      if (operand.block->dropped()) remaker_.remake(*operand.block);
    }
    if (!pin_together(parts_.pager, blocks_, hole, call.pins))
      throw no_room_for(parts_.pager, fmt::format("op {}", call.name), blocks_);
  };
  if (!guided || !pin_if_all_are_there(call)) pin(guided ? 0 : inside.value_or(0));
  bool room_is_sure = guided && parts_.guide.current->make_room();
  if (guided && !room_is_sure) {
    call.signature = signature_of(call.name, call.operands);
    inside = history_.inside_peak(call.signature);
    pin(inside.value_or(0));
  }
  const bool in_place = std::any_of(call.operands.begin(), call.operands.end(),
                                    [](const Operand& operand) { return operand.in_place(); });
  if (!room_is_sure && inside && parts_.pager.wait_for_hole(*inside))
    room_is_sure = !in_place || history_.is_steady(call.signature);
  if (in_place) expose(parts_.pager, call, room_is_sure);
  for (Operand& operand : call.operands) {
    operand.ready = true;
    parts_.pager.begin_use(*operand.block, operand.changes());
  }
}

bool Executor::attempt(OpCall& call, const ExecFunction& function, Timing& timing) {
  if (parts_.guide.current) parts_.guide.current->function_begins();
  timing.wanted = wants_times();
  if (timing.wanted) {
    const Nanoseconds before = time();
    timing.start = clock_.start(wants_exact_times());
    timing.of_clock = time() - before;
    timing.ran_out = clock_.had_run_out();
  }
  timing.function_ran = true;
  timing.function_began = time();
  LiveFrame frame(parts_, remaker_, history_, call);
  const FrameEntry entry(parts_.frame, frame);
  try {
    function(frame);
  } catch (const AbandonOp&) {
  }
  timing.function_ended = time();
  return !call.abandoned;
}

void Executor::undo(OpCall& call) {
  parts_.pager.compute_advanced();
  for (const Birth& birth : call.births) {
    if (!birth.block) continue;
    --birth.block->pins;
    parts_.lifetimes.erase(*birth.block);
    abandoned_births_.insert(birth.handle);
  }
  while (abandoned_births_.size() > kMostAbandonedBirths) abandoned_births_.erase(abandoned_births_.begin());
  call.births.clear();
  call.memory.clear();
  call.freed_after.clear();
  call.inside = call.inside_peak = 0;
  call.abandoned = false;
  call.may_abandon = false;
  call.pins.clear();
  // All of them, even if one fails: what is exposed no longer is what the host says it is.
  std::exception_ptr failure;
  for (Operand& operand : call.operands) {
    operand.block->home = kAnywhere;  // now they have to lie together
    if (!std::exchange(operand.exposed, false)) continue;
    try {
      restore(*operand.block);
    } catch (const BackendError&) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Executor::restore(PagedBlock& block) {
  // A clean block that leaves takes its changes with it, and returns without them. One that a program has
  // pinned has to stay.
  if (block.pins == 0) {
    std::ignore = parts_.pager.evict(block);
    return;
  }
  try {
    parts_.pager.restore(block);
  } catch (const BackendError&) {
    change(block);
    throw;
  }
}

void Executor::change(PagedBlock& block) {
  parts_.pager.content_changed(block);
  ++block.version;
  block.maker = kNoStep;
}

StepId Executor::record_step(OpCall& call, const ExecFunction& function) {
  for (const Operand& operand : call.operands)
    if (operand.reads && operand.version == 0) return kNoStep;  // bytes that nobody wrote come from nowhere
  std::unique_ptr<Step> blank = parts_.recipes.blank();
  Step& step = *blank;
  step.letters.assign(call.name);
  if (call.recipe)
    step.function.swap(call.recipe);
  else
    step.function = function;
  step.seed = call.seed;
  step.at = parts_.statistics.ops;
  step.inside_peak = call.inside_peak;
  for (const Operand& operand : call.operands) {
    const PagedBlock& block = *operand.block;
    if (operand.side_effect) {
      if (call.recipe_effects == SideEffects::as_before)
        step.side_effects.push_back({block.handle, block.bytes});
      continue;
    }
    if (operand.version > 0) step.inputs.push_back({block.handle, operand.version, operand.maker});
    if (operand.writes)
      step.outputs.push_back({block.handle, block.bytes, block.version, operand.in_place(), false});
  }
  for (const Birth& birth : call.births) {
    step.births.push_back({birth.handle, birth.bytes});
    if (birth.block) step.outputs.push_back({birth.handle, birth.bytes, birth.block->version, false, true});
  }
  return parts_.recipes.record(std::move(blank));
}

std::int64_t Executor::write_down(Phase phase, const OpCall& call, const Timing& timing, bool replayable) {
  accesses_.clear();
  for (const Operand& operand : call.operands)
    if (operand.ready)
      accesses_.push_back({operand.block->handle, operand.reads || operand.side_effect, operand.changes(),
                           operand.side_effect});
  Bytes born = 0;
  for (const Birth& birth : call.births) {
    if (!birth.block) continue;
    born += Arena::rounded(birth.bytes);
    accesses_.push_back({.block = birth.handle, .writes = true});
  }
  const Bytes workspace = workspace_of(call.memory, [&](Handle handle) {
    return std::any_of(call.births.begin(), call.births.end(),
                       [&](const Birth& birth) { return birth.block && birth.handle == handle; });
  });
  return recorder_.exec({.name = call.name,
                         .phase = phase,
                         .replayable = replayable,
                         .random = call.random,
                         .issue = timing.issue,
                         .workspace = std::max(workspace, call.inside_peak - born),
                         .accesses = accesses_,
                         .memory = call.memory});
}

void Executor::finish(const OpInfo& info, OpCall& call, const ExecFunction& function, const Timing& timing,
                      bool completed) {
  parts_.pager.compute_advanced();
  for (const Operand& operand : call.operands)
    if (operand.ready && operand.changes()) change(*operand.block);
  for (const Birth& birth : call.births)
    if (birth.block) birth.block->version = 1;
  const bool replayable = completed && call.replayable;
  StepId step = kNoStep;
  if (replayable && call.wants_recipe) step = record_step(call, function);
  if (step != kNoStep) {
    for (const Operand& operand : call.operands)
      if (operand.writes) operand.block->maker = step;
    for (const Birth& birth : call.births)
      if (birth.block) birth.block->maker = step;
  }
  const std::int64_t record =
      call.recorded ? write_down(info.phase, call, timing, replayable) : Recorder::kUnrecorded;
  const Nanoseconds in_function = timing.function_ended - timing.function_began;
  OpSpan span;
  if (timing.wanted) {
    const Nanoseconds before = time();
    span = clock_.end(timing.start);
    if (clock_.kept_ahead() && completed && last_issue_ && !timing.ran_out) {
      span.host = timing.issue - *last_issue_;
      const Nanoseconds in_device = before - timing.entered - in_function - timing.of_clock;
      timer_.host_pace().add(span.host, in_function, in_device);
    }
    timer_.add(span, step, record);
  } else {
    clock_.skip();
  }
  if (parts_.guide.current) parts_.guide.current->op_ended(step, span);
  let_go(call);
  last_issue_ = timing.wanted && completed ? std::optional(timing.issue) : std::nullopt;
  if (!completed) return;
  held_ += time() - timing.entered - in_function;
}

void Executor::let_go(OpCall& call) {
  for (const Birth& birth : call.births)
    if (birth.block) --birth.block->pins;
  call.release();
  for (const Handle handle : call.freed_after) parts_.lifetimes.free(*parts_.table.find(handle));
  // One that is gone already has no handle.
  for (const Operand& operand : call.operands)
    if (operand.block->freed) parts_.lifetimes.reap(operand.block->handle);
  parts_.lifetimes.reap_released();
}

}  // namespace ebb
