#include "plan/lowering_walk.h"

#include <algorithm>

#include "plan/program_walk.h"
#include "plan/stays.h"

namespace ebb {
namespace {

std::vector<std::vector<GapId>> gaps_by_op(const Gaps& gaps, OpIndex n, auto position_of) {
  std::vector<std::vector<GapId>> groups(static_cast<std::size_t>(n));
  for (GapId g = 0; g < gaps.count(); ++g)
    if (const OpIndex j = position_of(gaps[g]); j >= 0) groups[static_cast<std::size_t>(j)].push_back(g);
  return groups;
}

}  // namespace

LoweringWalk::LoweringWalk(const Program& program, const Gaps& gaps)
    : program_(program),
      gaps_(gaps),
      n_(program.op_count()),
      builder_(program),
      at_start_(presence_at_start(program)),
      gap_of_(program.blocks().size(), -1),
      trailing_of_(program.blocks().size(), -1),
      begins_(gaps_by_op(gaps, n_, [](const Gap& gap) { return gap.from; })),
      ends_(gaps_by_op(gaps, n_, [n = n_](const Gap& gap) {
        return gap.kind == GapKind::trailing ? kNoOp : gap.to % n;
      })) {
  for (GapId g = 0; g < gaps.count(); ++g)
    if (gaps[g].kind == GapKind::trailing) trailing_of_[static_cast<std::size_t>(gaps[g].block)] = g;
}

void LoweringWalk::prepare(const Plan& plan, Bytes limit, LoweredPlan& result) {
  plan_ = &plan;
  limit_ = limit;
  out_ = &result;
  swap_index_.assign(static_cast<std::size_t>(gaps_.count()), -1);
  for (std::size_t i = 0; i < result.swaps.size(); ++i)
    swap_index_[static_cast<std::size_t>(result.swaps[i].gap)] = static_cast<std::int32_t>(i);
  returns_early_.assign(static_cast<std::size_t>(gaps_.count()), false);
  collect_events();
}

bool LoweringWalk::note_early_returns() {
  bool found = false;
  for (const Swap& swap : out_->swaps) {
    const bool early = gaps_[swap.gap].kind == GapKind::wrapping && swap.needed_at < n_;
    if (!early || returns_early_[static_cast<std::size_t>(swap.gap)]) continue;
    returns_early_[static_cast<std::size_t>(swap.gap)] = found = true;
    called_back_.push_back({swap.needed_at, swap.gap});
  }
  sort_by_position(called_back_);
  return found;
}

void LoweringWalk::sort_by_position(std::vector<At>& list) {
  std::sort(list.begin(), list.end(), [](const At& a, const At& b) {
    return a.position != b.position ? a.position < b.position : a.gap < b.gap;
  });
}

void LoweringWalk::collect_events() {
  late_leaves_.clear();
  called_back_.clear();
  stay_begins_.clear();
  stay_ends_.clear();
  for (const Swap& swap : out_->swaps) {
    const Gap& gap = gaps_[swap.gap];
    if (swap.out_after > gap.from) late_leaves_.push_back({swap.out_after, swap.gap});
    const OpIndex in_by = (*plan_)[swap.gap].in_by;
    if (gap.kind != GapKind::trailing && in_by != kAuto && in_by < gap.to)
      called_back_.push_back({in_by % n_, swap.gap});
  }
  for (GapId g = 0; g < gaps_.count(); ++g) {
    const Decision& decision = (*plan_)[g];
    if (decision.action != Action::recompute) continue;
    if (!decision.stays) {
      out_->plan[g].stays.emplace();
      continue;
    }
    for (const OpRange& stay : *decision.stays) {
      if (stay.begin > gaps_[g].from + 1) stay_begins_.push_back({stay.begin, g});
      stay_ends_.push_back({stay.end, g});
    }
  }
  sort_by_position(late_leaves_);
  sort_by_position(called_back_);
  sort_by_position(stay_begins_);
  sort_by_position(stay_ends_);
}

void LoweringWalk::start() {
  presence_ = at_start_;
  std::fill(gap_of_.begin(), gap_of_.end(), -1);
  next_leave_ = next_call_ = next_begin_ = next_end_ = 0;
  chosen_.clear();
  out_->replays.clear();
  out_->drops.clear();
  out_->freed.assign(static_cast<std::size_t>(n_), 0);
  out_->need.assign(static_cast<std::size_t>(n_), 0);
  for (GapId g = 0; g < gaps_.count(); ++g)
    if ((*plan_)[g].action == Action::recompute && chooses_stays(g)) stays(g).clear();
  for (Swap& swap : out_->swaps) {
    const Gap& gap = gaps_[swap.gap];
    if (!returns_early_[static_cast<std::size_t>(swap.gap)]) swap.needed_at = gap.to;
    const bool away = gap.kind == GapKind::trailing
                          ? gap.to > n_
                          : gap.to >= n_ && !returns_early_[static_cast<std::size_t>(swap.gap)];
    if (!away) continue;
    where(gap.block) = away_in(swap.gap);
    gap_of(gap.block) = swap.gap;
  }
  present_ = program_.info().unmanaged;
  for (BlockId b = 0; b < program_.block_count(); ++b)
    if (where(b) == Whereabouts::resident) present_ += bytes_of(b);
  out_->initial = present_;
}

std::optional<Infeasible> LoweringWalk::run() {
  start();
  for (OpIndex j = 0; j < n_; ++j) {
    begin_position(j);
    if (auto failure = replay(j)) return failure;
    if (most_replays_ > 0 && out_->replays.size() > most_replays_)
      return Infeasible{Obstacle::too_large, j, -1, limit_ + 1, limit_, "too many ops are replayed"};
    Bytes& need = out_->need[static_cast<std::size_t>(j)];
    need = std::max(need, present_ + op_need(j));
    run_op(program_, j, presence_);
    present_ += program_.birth_bytes(j);
    end_op(j);
  }
  return std::nullopt;
}

void LoweringWalk::return_block(GapId g, OpIndex position) {
  const Gap& gap = gaps_[g];
  Swap& swap = swap_of(g);
  const OpIndex unrolled = position <= gap.from ? position + n_ : position;
  swap.needed_at = std::min(swap.needed_at, unrolled);
  where(gap.block) = Whereabouts::resident;
  gap_of(gap.block) = -1;
  present_ += swap.bytes;
}

// Swapped blocks that the op at this position reads, or that a directive calls back, are there.
void LoweringWalk::begin_position(OpIndex j) {
  auto bring_back = [&](GapId g) {
    const BlockId b = gaps_[g].block;
    if (where(b) == Whereabouts::on_host && gap_of(b) == g) return_block(g, j);
  };
  for (GapId g : ends_[static_cast<std::size_t>(j)]) {
    bring_back(g);
    std::erase(chosen_, g);
  }
  for (; next_call_ < called_back_.size() && called_back_[next_call_].position == j; ++next_call_)
    bring_back(called_back_[next_call_].gap);
}

std::optional<Infeasible> LoweringWalk::replay(OpIndex j) {
  wanted_gaps_.clear();
  for (GapId g : ends_[static_cast<std::size_t>(j)])
    if (where(gaps_[g].block) == Whereabouts::dropped && gap_of(gaps_[g].block) == g)
      wanted_gaps_.push_back(g);
  for (; next_begin_ < stay_begins_.size() && stay_begins_[next_begin_].position == j; ++next_begin_)
    wanted_gaps_.push_back(stay_begins_[next_begin_].gap);
  wanted_.clear();
  for (GapId g : wanted_gaps_) wanted_.push_back(gaps_[g].version);
  if (wanted_.empty()) {
    while (present_ + op_need(j) > limit_ && evict_a_stay(j)) {
    }
    return std::nullopt;
  }
  Bytes survivors = 0;
  for (GapId g : wanted_gaps_) survivors += bytes_of(gaps_[g].block);
  Bytes peak = 0;
  do {
    if (!builder_.collect(presence_, wanted_)) {
      const VersionId v = builder_.missing();
      return Infeasible{Obstacle::not_remakable,
                        j,
                        program_.version(v).block,
                        0,
                        0,
                        program_.version(v).writer < 0 ? "its content is older than the iteration"
                                                       : "the op that wrote it cannot be replayed"};
    }
    for (BlockId b : builder_.returns()) return_block(gap_of(b), j);
    builder_.build_steps(j);
    peak = present_ + survivors + op_need(j);
    for (std::size_t k = 0; k < builder_.steps().size(); ++k)
      peak = std::max(peak, present_ + builder_.usage(k));
  } while (peak > limit_ && evict_a_stay(j));
  for (GapId g : wanted_gaps_) {
    where(gaps_[g].block) = Whereabouts::resident;
    presence_.current[static_cast<std::size_t>(gaps_[g].block)] = gaps_[g].version;
    if (gaps_[g].to == j) gap_of(gaps_[g].block) = -1;
  }
  const Bytes before = present_;
  present_ += survivors;
  choose_stays(j, before);
  Bytes& need = out_->need[static_cast<std::size_t>(j)];
  for (std::size_t k = 0; k < builder_.steps().size(); ++k) need = std::max(need, before + builder_.usage(k));
  out_->replays.insert(out_->replays.end(), builder_.steps().begin(), builder_.steps().end());
  return std::nullopt;
}

// Lets what the replay made on its way stay until its own next use, nearest use first, while there is room.
void LoweringWalk::choose_stays(OpIndex j, Bytes before) {
  std::vector<GapId> candidates;
  for (VersionId v : builder_.made()) {
    const BlockId b = program_.version(v).block;
    const GapId g = gap_of(b);
    if (where(b) == Whereabouts::dropped && presence_.current[static_cast<std::size_t>(b)] == v && g >= 0 &&
        gaps_[g].kind != GapKind::trailing && chooses_stays(g) && gaps_[g].from + 1 < j)
      candidates.push_back(g);  // a stay from `from` + 1 would mean: never dropped
  }
  if (candidates.empty()) return;
  std::sort(candidates.begin(), candidates.end(),
            [&](GapId a, GapId b) { return gaps_[a].to != gaps_[b].to ? gaps_[a].to < gaps_[b].to : a < b; });
  for (GapId g : candidates) {
    const BlockId b = gaps_[g].block;
    const Bytes bytes = bytes_of(b);
    bool fits = present_ + bytes + op_need(j) <= limit_;
    const std::size_t steps = builder_.steps().size();
    for (std::size_t k = builder_.last_reader(gaps_[g].version) + 1; fits && k < steps; ++k)
      fits = before + builder_.usage(k) + bytes <= limit_;
    if (!fits) continue;
    builder_.keep_in_steps(gaps_[g].version);
    present_ += bytes;
    where(b) = Whereabouts::resident;
    stays(g).push_back({j, gaps_[g].to});
    chosen_.push_back(g);
  }
}

// Ends the chosen stay whose block is needed last. False if there is none.
bool LoweringWalk::evict_a_stay(OpIndex j) {
  const auto farthest = std::max_element(chosen_.begin(), chosen_.end(), [&](GapId a, GapId b) {
    return gaps_[a].to != gaps_[b].to ? gaps_[a].to < gaps_[b].to : a < b;
  });
  if (farthest == chosen_.end()) return false;
  const GapId g = *farthest;
  chosen_.erase(farthest);
  stays(g).back().end = j;
  drop(g, j - 1);
  return true;
}

// The block leaves at once when op `after` has ended.
void LoweringWalk::drop(GapId g, OpIndex after) {
  const BlockId b = gaps_[g].block;
  where(b) = Whereabouts::dropped;
  gap_of(b) = g;
  present_ -= bytes_of(b);
  out_->freed[static_cast<std::size_t>(after)] += bytes_of(b);
  out_->drops.push_back({after, g});
}

void LoweringWalk::leave(GapId g, OpIndex after) {
  const Swap& swap = swap_of(g);
  const bool dies_now = gaps_[g].kind == GapKind::trailing && gaps_[g].to == after + 1;
  if (swap.clean && dies_now) return;
  where(swap.block) = away_in(g);
  gap_of(swap.block) = g;
  present_ -= swap.bytes;
  if (!swap.clean) return;
  out_->freed[static_cast<std::size_t>(after)] += swap.bytes;
  out_->drops.push_back({after, g});
}

// At the gap's end the block is needed or freed anyway. A stay past death keeps a dead block, which then goes
// for good.
void LoweringWalk::end_stay(GapId g, OpIndex end) {
  const Gap& gap = gaps_[g];
  if (end == gap.to) return;
  drop(g, end - 1);
  if (end > gap.to) where(gap.block) = Whereabouts::dead;
}

void LoweringWalk::end_op(OpIndex j) {
  for (GapId g : begins_[static_cast<std::size_t>(j)]) {
    const Decision& decision = (*plan_)[g];
    if (decision.action == Action::swap && swap_of(g).out_after <= j) leave(g, j);
    if (decision.action != Action::recompute) continue;
    gap_of(gaps_[g].block) = g;
    const bool stays_on =
        decision.stays && !decision.stays->empty() && decision.stays->front().begin == j + 1;
    const bool dies_now = gaps_[g].to == j + 1;
    if (!stays_on && !dies_now) drop(g, j);
  }
  for (; next_leave_ < late_leaves_.size() && late_leaves_[next_leave_].position == j; ++next_leave_)
    leave(late_leaves_[next_leave_].gap, j);
  for (; next_end_ < stay_ends_.size() && stay_ends_[next_end_].position == j + 1; ++next_end_)
    end_stay(stay_ends_[next_end_].gap, j + 1);
  for (BlockId b : program_.deaths(j)) {
    if (where(b) == Whereabouts::resident) {
      const GapId trailing = trailing_of_[static_cast<std::size_t>(b)];
      if (trailing >= 0 && kept_past_death(gaps_[trailing], (*plan_)[trailing])) continue;
      present_ -= bytes_of(b);
      out_->freed[static_cast<std::size_t>(j)] += bytes_of(b);
    }
    where(b) = Whereabouts::dead;
  }
}

}  // namespace ebb
