#include "simulate/reference_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ebb {
namespace {

bool contains(std::span<const VersionId> versions, VersionId v) {
  return std::find(versions.begin(), versions.end(), v) != versions.end();
}

}  // namespace

ReferencePositions::ReferencePositions(const Program& program, const Gaps& gaps, const LoweredPlan& lowered)
    : program_(program), gaps_(gaps), lowered_(lowered) {
  for (OpIndex j = 0; j < program.op_count(); ++j) replays_.push_back(derive_replay(j));
  check_swaps();
  check_replays();
  for (OpIndex j = 0; j < program.op_count(); ++j)
    if (lowered.need[static_cast<std::size_t>(j)] != need(j))
      disagreements_.push_back(fmt::format("need of op {} is {}, lowered says {}", j, need(j),
                                           lowered.need[static_cast<std::size_t>(j)]));
  if (lowered.host_peak != host_peak())
    disagreements_.push_back(fmt::format("host peak is {}, lowered says {}", host_peak(), lowered.host_peak));
}

const Swap& ReferencePositions::swap_of(GapId gap) const {
  return *std::find_if(lowered_.swaps.begin(), lowered_.swaps.end(),
                       [gap](const Swap& s) { return s.gap == gap; });
}

OpIndex ReferencePositions::last_present(const Swap& swap) const {
  return std::max(gaps_[swap.gap].from, swap.out_after);
}

bool ReferencePositions::alive_at_op(BlockId block, OpIndex j) const {
  const Block& b = program_.block(block);
  if (b.lifetime == Lifetime::persistent) return true;
  if (b.lifetime == Lifetime::local) return b.birth <= j && j <= b.death;
  return j >= b.birth || j <= b.death;
}

bool ReferencePositions::alive_at_position(BlockId block, OpIndex j) const {
  return alive_at_op(block, j) && program_.block(block).birth != j;
}

std::optional<ReferencePositions::Place> ReferencePositions::gap_over_op(BlockId block, OpIndex j) const {
  for (GapId g = gaps_.first(block); g < gaps_.last(block); ++g)
    for (OpIndex at : {j, j + program_.op_count()})
      if (gaps_[g].from < at && at < gaps_[g].to) return Place{g, at};
  return std::nullopt;
}

std::optional<ReferencePositions::Place> ReferencePositions::gap_over_position(BlockId block,
                                                                               OpIndex j) const {
  for (GapId g = gaps_.first(block); g < gaps_.last(block); ++g)
    for (OpIndex at : {j, j + program_.op_count()})
      if (gaps_[g].from < at && at <= gaps_[g].to) return Place{g, at};
  return std::nullopt;
}

bool ReferencePositions::stay_holds_at_position(GapId gap, OpIndex j) const {
  for (const OpRange& stay : *lowered_.plan[gap].stays) {
    const bool continues = stay.begin == gaps_[gap].from + 1;
    const bool reaches = gaps_[gap].kind != GapKind::trailing && stay.end == gaps_[gap].to && j == stay.end;
    if ((continues ? stay.begin <= j : stay.begin < j) && (j < stay.end || reaches)) return true;
  }
  return false;
}

bool ReferencePositions::present_at_op(BlockId block, OpIndex j) const {
  const auto place = gap_over_op(block, j);
  if (!place) return true;
  const auto [gap, at] = *place;
  if (is_swap(gap)) {
    const Swap& swap = swap_of(gap);
    return at <= last_present(swap) || (gaps_[gap].kind != GapKind::trailing && at >= swap.in_from);
  }
  if (!is_recompute(gap)) return true;
  const auto& stays = *lowered_.plan[gap].stays;
  return std::any_of(stays.begin(), stays.end(), [at](OpRange s) { return s.begin <= at && at < s.end; });
}

bool ReferencePositions::present_at_position(BlockId block, OpIndex j) const {
  const auto place = gap_over_position(block, j);
  if (!place) return true;
  const auto [gap, at] = *place;
  if (is_swap(gap)) {
    const Swap& swap = swap_of(gap);
    return at <= last_present(swap) || (gaps_[gap].kind != GapKind::trailing && at >= swap.in_from);
  }
  return !is_recompute(gap) || stay_holds_at_position(gap, at);
}

VersionId ReferencePositions::content_at(BlockId block, OpIndex j) const {
  const Block& b = program_.block(block);
  const bool second_instance = b.lifetime == Lifetime::wrapping && j > b.birth;
  VersionId content = -1;
  for (std::size_t v = 0; v < program_.versions().size() && content < 0; ++v)
    if (program_.versions()[v].block == block) content = static_cast<VersionId>(v);
  for (const BlockAccess& access : program_.accesses(block))
    if (access.op < j && (!second_instance || access.op >= b.birth)) content = access.version;
  return content;
}

bool ReferencePositions::available(VersionId v, OpIndex j) const {
  const BlockId block = program_.version(v).block;
  if (alive_at_position(block, j) && content_at(block, j) == v) {
    if (present_at_position(block, j)) return true;
    const auto place = gap_over_position(block, j);
    return is_swap(place->gap) && gaps_[place->gap].kind != GapKind::trailing;
  }
  for (GapId g = gaps_.first(block); g < gaps_.last(block); ++g)
    if (gaps_[g].kind == GapKind::trailing && gaps_[g].version == v && is_recompute(g) && j >= gaps_[g].to &&
        stay_holds_at_position(g, j))
      return true;
  return false;
}

std::vector<GapId> ReferencePositions::targets(OpIndex j) const {
  std::vector<GapId> result;
  for (GapId g = 0; g < gaps_.count(); ++g) {
    if (!is_recompute(g)) continue;
    const auto& stays = *lowered_.plan[g].stays;
    const bool begins = std::any_of(stays.begin(), stays.end(),
                                    [&](OpRange s) { return s.begin == j && s.begin != gaps_[g].from + 1; });
    const bool ends = gaps_[g].kind != GapKind::trailing && gaps_[g].to == j && !stay_holds_at_position(g, j);
    if (begins || ends) result.push_back(g);
  }
  return result;
}

std::vector<ReferenceStep> ReferencePositions::derive_replay(OpIndex j) {
  const std::vector<GapId> goals = targets(j);
  std::set<OpIndex> ops;
  std::vector<VersionId> missing;
  for (GapId g : goals) missing.push_back(gaps_[g].version);
  while (!missing.empty()) {
    const Version version = program_.version(missing.back());
    missing.pop_back();
    if (version.writer < 0 || !program_.op(version.writer).replayable) {
      disagreements_.push_back(fmt::format("block {} cannot be made again at position {}", version.block, j));
      return {};
    }
    if (!ops.insert(version.writer).second) continue;
    for (VersionId input : program_.inputs(version.writer))
      if (!available(input, j)) missing.push_back(input);
  }

  const auto target_of = [&](VersionId v) -> GapId {
    for (GapId g : goals)
      if (gaps_[g].version == v) return g;
    return -1;
  };
  const auto read_after = [&](VersionId v, OpIndex op) {
    return std::any_of(ops.upper_bound(op), ops.end(),
                       [&](OpIndex later) { return contains(program_.inputs(later), v); });
  };
  std::vector<ReferenceStep> steps;
  std::set<VersionId> temporaries;
  for (OpIndex op : ops) {
    ReferenceStep step{.before = j, .op = op, .allocates = {}, .in_place = {}, .frees = {}, .returns = {}};
    for (const OpOutput& output : program_.outputs(op)) {
      if (output.replaces >= 0) {
        if (temporaries.erase(output.replaces) == 0)
          disagreements_.push_back(fmt::format("step {} at position {} overwrites a live block", op, j));
        step.in_place.emplace_back(output.replaces, output.version);
      } else {
        step.allocates.push_back(output.version);
      }
      temporaries.insert(output.version);
      if (const GapId g = target_of(output.version); g >= 0) step.returns.push_back(g);
    }
    for (VersionId v : std::vector<VersionId>(temporaries.begin(), temporaries.end())) {
      const bool wanted = read_after(v, op) && !available(v, j);
      if (wanted || target_of(v) >= 0) continue;
      step.frees.push_back(v);
      temporaries.erase(v);
    }
    steps.push_back(step);
  }
  return steps;
}

bool ReferencePositions::kept_past(GapId gap, OpIndex op) const {
  return is_recompute(gap) && stay_holds_at_position(gap, op + 1);
}

Bytes ReferencePositions::kept_dead(OpIndex j, bool position) const {
  Bytes bytes = 0;
  for (GapId g = 0; g < gaps_.count(); ++g) {
    if (gaps_[g].kind != GapKind::trailing || !is_recompute(g) || j < gaps_[g].to) continue;
    const auto& stays = *lowered_.plan[g].stays;
    const bool kept = position ? stay_holds_at_position(g, j)
                               : std::any_of(stays.begin(), stays.end(),
                                             [j](OpRange s) { return s.begin <= j && j < s.end; });
    if (kept) bytes += program_.block(gaps_[g].block).bytes;
  }
  return bytes;
}

Bytes ReferencePositions::need(OpIndex j) const {
  Bytes at_op = program_.info().unmanaged + program_.op(j).workspace + kept_dead(j, false);
  Bytes before = program_.info().unmanaged + kept_dead(j, true);
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    if (alive_at_op(b, j) && present_at_op(b, j)) at_op += program_.block(b).bytes;
    if (alive_at_position(b, j) && present_at_position(b, j)) before += program_.block(b).bytes;
  }
  Bytes most = at_op;
  for (const ReferenceStep& step : replay(j)) {
    for (VersionId v : step.allocates) before += bytes_of(v);
    most = std::max(most, before + program_.op(step.op).workspace);
    for (VersionId v : step.frees) before -= bytes_of(v);
  }
  return most;
}

bool ReferencePositions::derive_clean(GapId gap) const {
  const BlockId block = gaps_[gap].block;
  const auto accesses = program_.accesses(block);
  const Block& b = program_.block(block);
  const bool written =
      std::any_of(accesses.begin(), accesses.end(), [](const BlockAccess& a) { return a.writes; });
  if (!written && b.lifetime == Lifetime::persistent) return true;
  // Walk the block's accesses in cyclic order from its birth; a persistent block goes round twice.
  std::vector<BlockAccess> order(accesses.begin(), accesses.end());
  if (b.lifetime == Lifetime::wrapping)
    std::stable_partition(order.begin(), order.end(), [&](const BlockAccess& a) { return a.op >= b.birth; });
  if (b.lifetime == Lifetime::persistent) order.insert(order.end(), accesses.begin(), accesses.end());
  bool on_host = false;
  bool clean = false;
  for (const BlockAccess& access : order) {
    if (access.writes) on_host = false;
    const GapId after = gaps_.find(block, access.op);
    if (after < 0 || !is_swap(after)) continue;
    if (after == gap) clean = on_host;
    on_host = true;
  }
  return clean;
}

void ReferencePositions::check_swaps() {
  for (const Swap& swap : lowered_.swaps)
    if (swap.clean != derive_clean(swap.gap))
      disagreements_.push_back(fmt::format("gap {} is {}clean", swap.gap, swap.clean ? "not " : ""));
}

void ReferencePositions::check_replays() {
  std::vector<ReplayStep> expected;
  for (const auto& steps : replays_)
    for (const ReferenceStep& step : steps) {
      ReplayStep plain{.before = step.before, .op = step.op, .allocates = 0, .frees = 0};
      for (VersionId v : step.allocates) plain.allocates += bytes_of(v);
      for (VersionId v : step.frees) plain.frees += bytes_of(v);
      expected.push_back(plain);
    }
  if (expected == lowered_.replays) return;
  std::string text = "replays differ; expected (before, op, allocates, frees):";
  for (const ReplayStep& s : expected)
    text += fmt::format(" ({}, {}, {}, {})", s.before, s.op, s.allocates, s.frees);
  text += "; lowered says:";
  for (const ReplayStep& s : lowered_.replays)
    text += fmt::format(" ({}, {}, {}, {})", s.before, s.op, s.allocates, s.frees);
  disagreements_.push_back(text);
}

bool ReferencePositions::present_at_start(BlockId block) const {
  if (program_.block(block).lifetime == Lifetime::local) return false;
  for (GapId g = gaps_.first(block); g < gaps_.last(block); ++g) {
    if (gaps_[g].to < program_.op_count()) continue;
    if (is_swap(g) && (gaps_[g].kind == GapKind::trailing || returns_next_iteration(swap_of(g))))
      return false;
    if (is_recompute(g)) return false;
  }
  return true;
}

// A host copy counts at ops [last present, position of the last return that needs it); one that is never made
// again counts always.
Bytes ReferencePositions::host_peak() const {
  const OpIndex n = program_.op_count();
  std::vector<Bytes> at(static_cast<std::size_t>(n), 0);
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    std::vector<Swap> swaps;
    for (const Swap& swap : lowered_.swaps)
      if (swap.block == b) swaps.push_back(swap);
    if (swaps.empty()) continue;
    std::vector<bool> held(static_cast<std::size_t>(n), false);
    if (std::all_of(swaps.begin(), swaps.end(), [](const Swap& s) { return s.clean; }))
      held.assign(held.size(), true);
    for (std::size_t i = 0; i < swaps.size(); ++i) {
      if (swaps[i].clean) continue;
      OpIndex until = swaps[i].needed_at;
      for (std::size_t step = 1; step < swaps.size() && swaps[(i + step) % swaps.size()].clean; ++step) {
        until = swaps[(i + step) % swaps.size()].needed_at;
        while (until < swaps[i].needed_at) until += n;
      }
      for (OpIndex op = last_present(swaps[i]); op < until; ++op)
        held[static_cast<std::size_t>((op + n) % n)] = true;
    }
    for (std::size_t op = 0; op < held.size(); ++op)
      if (held[op]) at[op] += program_.block(b).bytes;
  }
  return *std::max_element(at.begin(), at.end());
}

}  // namespace ebb
