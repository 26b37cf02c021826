#include "step_player.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace ebb {
namespace {

Nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

double clock_read() {
  constexpr int kReads = 1000;
  Nanoseconds best = std::numeric_limits<Nanoseconds>::max();
  for (int round = 0; round < 20; ++round) {
    const Nanoseconds begin = now();
    Nanoseconds last = begin;
    for (int i = 0; i < kReads; ++i) last = now();
    best = std::min(best, last - begin);
  }
  return static_cast<double>(best) / kReads;
}

StepPlayer::StepPlayer(Device& device, const Program& program, Work work)
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
    for (const BlockId b : program.op(i).births) call.births.push_back({b, program.block(b).bytes});
    call.deaths.assign(program.deaths(i).begin(), program.deaths(i).end());
    const Op& op = program.op(i);
    call.info = {.name = op.name,
                 .phase = op.phase,
                 .replayable = op.replayable,
                 .random = op.random,
                 .side_effects = call.effects};
    call.function = [this, i](ExecContext& context) { run(i, context); };
  }
}

StepPlayer::~StepPlayer() {
  for (const Handle handle : handles_)
    if (handle != 0) device_.free(handle);
}

void StepPlayer::run(OpIndex i, ExecContext& context) {
  const Op& op = program_.op(i);
  // Mallocs are the Device's time, not the function's. In a replay one may stand for a block that is dead.
  const bool replayed = i != current_;
  for (const Birth& birth : replayed ? calls_[static_cast<std::size_t>(i)].births : births_) {
    const Handle handle = context.malloc(birth.bytes);
    if (!replayed) handles_[static_cast<std::size_t>(birth.block)] = handle;
  }
  if (op.workspace > 0) context.free(context.malloc(op.workspace));
  const Nanoseconds malloced = now();
  work_(op, replayed);
  times_.function += now() - malloced;
  ++times_.functions;
}

void StepPlayer::fetch(Call& call) {
  const auto fill = [&](const std::vector<BlockId>& blocks, std::vector<Handle>& handles) {
    for (std::size_t k = 0; k < blocks.size(); ++k)
      handles[k] = handles_[static_cast<std::size_t>(blocks[k])];
  };
  fill(call.read_blocks, call.reads);
  fill(call.write_blocks, call.writes);
  fill(call.effect_blocks, call.effects);
  births_ = call.births;
  deaths_ = call.deaths;
  for (const Birth& birth : births_) handles_[static_cast<std::size_t>(birth.block)] = 0;
  for (const BlockId b : deaths_) __builtin_prefetch(&handles_[static_cast<std::size_t>(b)]);
  __builtin_prefetch(&program_.op(current_).workspace);
}

void StepPlayer::iterate() {
  for (OpIndex i = 0; i < program_.op_count(); ++i) {
    current_ = i;
    Call& call = calls_[static_cast<std::size_t>(i)];
    fetch(call);
    const Nanoseconds begin = now();
    device_.exec(call.info, call.reads, call.writes, call.function);
    for (const BlockId b : deaths_) {
      Handle& handle = handles_[static_cast<std::size_t>(b)];
      if (handle != 0) device_.free(std::exchange(handle, 0));
    }
    times_.exec += now() - begin;
    ++times_.execs;
  }
}

bool StepPlayer::iterate_until_planned(int most) {
  for (int i = 0; i < most && device_.status().mode != Mode::planned; ++i) {
    iterate();
    while (device_.status().planning) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!device_.status().refusal.empty()) break;
  }
  return device_.status().mode == Mode::planned;
}

}  // namespace ebb
