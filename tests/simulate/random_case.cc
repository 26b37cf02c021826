#include "simulate/random_case.h"

#include <fmt/format.h>

#include "plan/lower.h"

namespace ebb {
namespace {

void keep_block(const Gaps& gaps, BlockId block, Plan& plan) {
  for (GapId g = gaps.first(block); g < gaps.last(block); ++g) plan[g] = {};
}

std::string describe(const Decision& d) {
  std::string text = d.action == Action::keep ? "keep" : d.action == Action::swap ? "swap" : "recompute";
  const auto add = [&](const char* name, OpIndex value) {
    if (value != kAuto) text += fmt::format(" {}={}", name, value);
  };
  add("out_after", d.out_after);
  add("out_by", d.out_by);
  add("in_from", d.in_from);
  add("in_by", d.in_by);
  add("out_order", d.out_order);
  add("in_order", d.in_order);
  if (d.stays)
    for (const OpRange& stay : *d.stays) text += fmt::format(" stay[{},{})", stay.begin, stay.end);
  return text;
}

}  // namespace

RandomCase random_case(std::uint64_t seed) {
  Random random(seed);
  Program program = random_program(random);
  Gaps gaps(program);
  Machine machine = random_machine(random);
  Plan plan = random_plan(random, program, gaps);
  const Bytes limit = random_limit(random, program);
  RandomCase c{std::move(program), std::move(gaps), std::move(machine), std::move(plan), limit, {},
               Obstacle::none};
  Lowerer lowerer(c.program, c.gaps);
  for (int attempt = 0; attempt < 12 && !c.lowered; ++attempt) {
    LoweredPlan lowered;
    const auto infeasible = lowerer.lower(c.plan, c.limit, lowered);
    if (!infeasible) {
      c.lowered = std::move(lowered);
      continue;
    }
    c.obstacle = infeasible->obstacle;
    if (infeasible->obstacle == Obstacle::too_large)
      c.limit = infeasible->needed;
    else if (infeasible->block >= 0)
      keep_block(c.gaps, infeasible->block, c.plan);
  }
  if (random.chance(5)) c.limit -= random.between<Bytes>(1, 10);  // and is judged by a smaller limit
  return c;
}

std::string describe(const RandomCase& c) {
  std::string text =
      fmt::format("limit {} unmanaged {} smallest {} peak {}\n", c.limit, c.program.info().unmanaged,
                  c.program.info().smallest_managed, c.program.peak_demand());
  const Machine& m = c.machine;
  text += fmt::format(
      "out {} B/s +{}ns, in {} B/s +{}ns, both {}, exclusive {}, stretch {} {} {}, scale {}, host {}\n",
      m.bandwidth_out, m.latency_out, m.bandwidth_in, m.latency_in, m.bandwidth_both, m.exclusive,
      m.compute_stretch[1], m.compute_stretch[2], m.compute_stretch[3], m.compute_scale, m.host_bytes);
  for (OpIndex i = 0; i < c.program.op_count(); ++i) {
    const Op& op = c.program.op(i);
    text += fmt::format("op {}: {}ns issue {} workspace {}{}:", i, op.duration, op.issue, op.workspace,
                        op.replayable ? "" : " not replayable");
    for (const Access& a : op.accesses)
      text += fmt::format(" {}{}{}{}", a.reads ? "R" : "", a.writes ? "W" : "", a.side_effect ? "s" : "",
                          a.block);
    text += "\n";
  }
  for (BlockId b = 0; b < c.program.block_count(); ++b) {
    const Block& block = c.program.block(b);
    text += fmt::format("block {}: {} bytes, {} to {}\n", b, block.bytes, block.birth, block.death);
  }
  for (GapId g = 0; g < c.gaps.count(); ++g) {
    const Decision& d = c.lowered ? c.lowered->plan[g] : c.plan[g];
    if (d.action == Action::keep) continue;
    text += fmt::format("gap {}: block {} from {} to {} {}: {}\n", g, c.gaps[g].block, c.gaps[g].from,
                        c.gaps[g].to, c.gaps[g].kind == GapKind::trailing ? "trailing" : "", describe(d));
  }
  if (!c.lowered) return text;
  for (const Swap& s : c.lowered->swaps)
    text += fmt::format("swap gap {} {}out_after {} out_by {} in_from {} needed_at {}\n", s.gap,
                        s.clean ? "clean " : "", s.out_after, s.out_by, s.in_from, s.needed_at);
  text += "outs:";
  for (std::int32_t i : c.lowered->outs)
    text += fmt::format(" {}", c.lowered->swaps[static_cast<std::size_t>(i)].gap);
  text += "  ins:";
  for (std::int32_t i : c.lowered->ins)
    text += fmt::format(" {}", c.lowered->swaps[static_cast<std::size_t>(i)].gap);
  return text + "\n";
}

std::string describe(const std::vector<Command>& commands) {
  static constexpr const char* kNames[] = {"run", "replay", "out", "release", "in", "drop"};
  std::string text;
  for (const Command& c : commands)
    text += c.gap < 0 ? fmt::format("{} op{}/{} ", kNames[static_cast<int>(c.kind)], c.op, c.ended)
                      : fmt::format("{} g{}/{} ", kNames[static_cast<int>(c.kind)], c.gap, c.ended);
  return text + "\n";
}

}  // namespace ebb
