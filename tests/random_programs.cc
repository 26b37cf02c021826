#include "random_programs.h"

#include <algorithm>

namespace ebb {
namespace {

Block random_block(Random& random, OpIndex ops) {
  Block block{.bytes = random.between<Bytes>(1, 40)};
  if (random.chance(5)) block.bytes = 0;
  const int kind = random.between(0, 9);
  if (kind < 2 || ops < 2) {
    block.lifetime = Lifetime::persistent;
    return block;
  }
  const OpIndex a = random.between<OpIndex>(0, ops - 1);
  const OpIndex b = random.between<OpIndex>(0, ops - 1);
  block.birth = std::min(a, b);
  block.death = std::max(a, b);
  if (kind < 4 && a != b) {
    block.lifetime = Lifetime::wrapping;
    std::swap(block.birth, block.death);
  }
  return block;
}

bool alive_at(const Block& block, OpIndex op) {
  if (block.lifetime == Lifetime::persistent) return true;
  if (block.lifetime == Lifetime::local) return block.birth <= op && op <= block.death;
  return op >= block.birth || op <= block.death;
}

void add_accesses(Random& random, std::vector<Op>& ops, const Block& block, BlockId id) {
  const bool touches_often = random.chance(20);
  const bool changes = random.chance(40);
  for (OpIndex i = 0; i < static_cast<OpIndex>(ops.size()); ++i) {
    if (!alive_at(block, i)) continue;
    Access access{.block = id};
    if (block.birth == i) {
      if (random.chance(8)) continue;
      access.writes = true;
      access.reads = random.chance(5);
    } else if (random.chance(touches_often ? 70 : 25)) {
      access.writes = changes && random.chance(30);
      access.reads = !access.writes || random.chance(60);
      access.side_effect = random.chance(6);
    } else {
      continue;
    }
    ops[static_cast<std::size_t>(i)].accesses.push_back(access);
  }
}

bool remakable(const Program& program, const Gap& gap) {
  const OpIndex writer = program.version(gap.version).writer;
  return gap.kind != GapKind::wrapping && writer >= 0 && program.op(writer).replayable;
}

// The last op at or before the gap's `from` that changes the block's bytes, negative in the iteration before.
OpIndex last_write(const Program& program, const Gap& gap) {
  OpIndex last = kAuto;
  for (const BlockAccess& access : program.accesses(gap.block)) {
    if (!access.writes) continue;
    const OpIndex at = access.op <= gap.from ? access.op : access.op - program.op_count();
    last = std::max(last, at);
  }
  return last == kAuto ? gap.from : last;
}

Decision random_swap(Random& random, const Program& program, const Gap& gap) {
  const OpIndex n = program.op_count();
  Decision decision{.action = Action::swap, .stays = {}};
  const OpIndex last = gap.to - 1;
  if (random.chance(25))
    decision.out_after = random.between(std::min(last_write(program, gap), gap.from), last);
  if (random.chance(2)) decision.out_after = random.between(-n, 2 * n);
  const OpIndex away = decision.out_after == kAuto ? gap.from : std::max(gap.from, decision.out_after);
  if (random.chance(10)) decision.out_by = random.between(std::min<OpIndex>(away + 1, gap.to), gap.to);
  if (gap.kind != GapKind::trailing && away < gap.to) {
    if (random.chance(15)) decision.in_by = random.between<OpIndex>(away + 1, gap.to);
    const OpIndex needed = decision.in_by == kAuto ? gap.to : decision.in_by;
    if (random.chance(20)) decision.in_from = random.between<OpIndex>(away + 1, needed);
    if (random.chance(5)) decision.in_order = random.between<OpIndex>(0, n);
  }
  if (random.chance(8)) decision.out_order = random.between<OpIndex>(0, n);
  return decision;
}

Decision random_recompute(Random& random, const Program& program, const Gap& gap) {
  Decision decision{.action = Action::recompute, .stays = {}};
  if (random.chance(40)) return decision;
  decision.stays.emplace();
  const OpIndex end = gap.kind == GapKind::trailing ? program.op_count() : gap.to;
  OpIndex at = gap.from + 1;
  while (at < end && random.chance(60)) {
    const OpIndex begin =
        decision.stays->empty() && random.chance(40) ? at : random.between<OpIndex>(at, end - 1);
    const OpIndex stop = random.between<OpIndex>(begin + 1, end);
    decision.stays->push_back({begin, stop});
    at = stop + (random.chance(10) ? 0 : 1);
  }
  return decision;
}

}  // namespace

Program random_program(Random& random) {
  const auto n = random.between<OpIndex>(2, random.chance(30) ? 14 : 8);
  std::vector<Op> ops(static_cast<std::size_t>(n));
  for (OpIndex i = 0; i < n; ++i) {
    Op& op = ops[static_cast<std::size_t>(i)];
    op.name = "op" + std::to_string(i);
    op.duration = random.chance(12) ? 0 : random.between<Nanoseconds>(1, 60);
    if (random.chance(15)) op.issue = random.between<Nanoseconds>(0, 40 * i + 10);
    if (random.chance(25)) op.workspace = random.between<Bytes>(1, 20);
    op.replayable = !random.chance(10);
    op.random = random.chance(10);
  }
  std::vector<Block> blocks(static_cast<std::size_t>(random.between(1, 11)));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b] = random_block(random, n);
    add_accesses(random, ops, blocks[b], static_cast<BlockId>(b));
  }
  ProgramInfo info{.name = "random"};
  info.unmanaged = random.chance(20) ? random.between<Bytes>(0, 30) : 0;
  info.smallest_managed = random.chance(30) ? random.between<Bytes>(1, 12) : 1;
  return Program::build(info, std::move(ops), std::move(blocks));
}

Machine random_machine(Random& random) {
  Machine machine;
  machine.name = "random";
  machine.bandwidth_out = random.between<Bytes>(200'000'000, 4'000'000'000);
  machine.bandwidth_in = random.between<Bytes>(200'000'000, 4'000'000'000);
  if (random.chance(40))
    machine.bandwidth_both =
        random.between<Bytes>(machine.bandwidth_in / 2, machine.bandwidth_in + machine.bandwidth_out);
  if (random.chance(30)) machine.latency_out = random.between<Nanoseconds>(0, 15);
  if (random.chance(30)) machine.latency_in = random.between<Nanoseconds>(0, 15);
  if (random.chance(20)) machine.op_issue = random.between<Nanoseconds>(1, 40);
  if (random.chance(20)) machine.follow_issue = random.between<Nanoseconds>(1, 10);
  if (random.chance(20)) machine.replay_issue = random.between<Nanoseconds>(1, 40);
  if (random.chance(30)) machine.host_lead = random.between<Nanoseconds>(1, 200);
  if (random.chance(20)) machine.copy_issue = random.between<Nanoseconds>(1, 20);
  machine.exclusive = random.chance(25);
  if (random.chance(50))
    machine.compute_stretch = {1'000'000, random.between<std::int64_t>(1'000'000, 1'300'000),
                               random.between<std::int64_t>(1'000'000, 1'300'000),
                               random.between<std::int64_t>(1'000'000, 1'700'000)};
  if (random.chance(10)) machine.compute_scale = 1.5;
  if (random.chance(5)) machine.host_bytes = random.between<Bytes>(1, 200);
  return machine;
}

Plan random_plan(Random& random, const Program& program, const Gaps& gaps) {
  Plan plan = Plan::keep_all(gaps);
  const int moves = random.between(20, 95);
  for (GapId g = 0; g < gaps.count(); ++g) {
    if (!random.chance(moves)) continue;
    const bool recompute = random.chance(45) && (remakable(program, gaps[g]) || random.chance(2));
    plan[g] = recompute ? random_recompute(random, program, gaps[g]) : random_swap(random, program, gaps[g]);
  }
  return plan;
}

Bytes smallest_limit(const Program& program) {
  Bytes smallest = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    Bytes needed = program.info().unmanaged + program.op(i).workspace;
    for (BlockId b = 0; b < program.block_count(); ++b) {
      const auto& accesses = program.op(i).accesses;
      const bool used =
          program.block(b).birth == i ||
          std::any_of(accesses.begin(), accesses.end(), [b](const Access& a) { return a.block == b; });
      if (used || (!program.managed(b) && alive_at(program.block(b), i))) needed += program.block(b).bytes;
    }
    smallest = std::max(smallest, needed);
  }
  return smallest;
}

Bytes random_limit(Random& random, const Program& program) {
  if (random.chance(10)) return program.peak_demand();
  return random.between(smallest_limit(program), program.peak_demand());
}

}  // namespace ebb
