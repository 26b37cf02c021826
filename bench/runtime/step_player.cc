#include "step_player.h"

#include <algorithm>
#include <chrono>

namespace ebb {
namespace {

Nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

StepPlayer::StepPlayer(Device& device, const Program& program, std::function<void(const Op&)> work)
    : device_(device),
      program_(program),
      work_(std::move(work)),
      handles_(program.blocks().size(), 0),
      calls_(program.ops().size()) {
  for (BlockId b = 0; b < program.block_count(); ++b)
    if (program.block(b).lifetime != Lifetime::local) {
      const Handle handle = handles_[static_cast<std::size_t>(b)] = device.malloc(program.block(b).bytes);
      device.exec({.name = "fill"}, {}, {&handle, 1}, [](ExecContext&) {});
    }
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    Call& call = calls_[static_cast<std::size_t>(i)];
    for (const Access& access : program.op(i).accesses) {
      const auto& births = program.op(i).births;
      if (std::find(births.begin(), births.end(), access.block) != births.end()) continue;
      if (access.side_effect)
        call.effect_blocks.push_back(access.block);
      else if (access.writes)
        call.write_blocks.push_back(access.block);
      if (access.reads && !access.side_effect) call.read_blocks.push_back(access.block);
    }
    call.reads.resize(call.read_blocks.size());
    call.writes.resize(call.write_blocks.size());
    call.effects.resize(call.effect_blocks.size());
    call.function = [this, i](ExecContext& context) { run(i, context); };
  }
}

StepPlayer::~StepPlayer() {
  for (const Handle handle : handles_)
    if (handle != 0) device_.free(handle);
}

void StepPlayer::run(OpIndex i, ExecContext& context) {
  const Op& op = program_.op(i);
  // Mallocs are the Device's time, not the function's.
  for (const BlockId b : op.births) {
    const Handle handle = context.malloc(program_.block(b).bytes);
    // In a replay it may stand for a block that is dead.
    if (i == current_) handles_[static_cast<std::size_t>(b)] = handle;
  }
  if (op.workspace > 0) context.free(context.malloc(op.workspace));
  const Nanoseconds malloced = now();
  work_(op);
  times_.function += now() - malloced;
}

void StepPlayer::iterate() {
  const auto fill = [&](const std::vector<BlockId>& blocks, std::vector<Handle>& handles) {
    for (std::size_t k = 0; k < blocks.size(); ++k)
      handles[k] = handles_[static_cast<std::size_t>(blocks[k])];
  };
  for (OpIndex i = 0; i < program_.op_count(); ++i) {
    current_ = i;
    Call& call = calls_[static_cast<std::size_t>(i)];
    const Op& op = program_.op(i);
    fill(call.read_blocks, call.reads);
    fill(call.write_blocks, call.writes);
    fill(call.effect_blocks, call.effects);
    const Nanoseconds begin = now();
    device_.exec({.name = op.name,
                  .phase = op.phase,
                  .replayable = op.replayable,
                  .random = op.random,
                  .side_effects = call.effects},
                 call.reads, call.writes, call.function);
    for (const BlockId b : program_.deaths(i)) {
      Handle& handle = handles_[static_cast<std::size_t>(b)];
      if (handle != 0) device_.free(std::exchange(handle, 0));
    }
    times_.exec += now() - begin;
    ++times_.execs;
  }
}

}  // namespace ebb
