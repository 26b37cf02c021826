#include "planners/recompute/online_walk.h"

#include <algorithm>
#include <limits>

#include "plan/program_walk.h"

namespace ebb {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Which gaps may lose their content, so that whatever else is lost, it can be made again when it is needed.
class Evictable {
 public:
  Evictable(const Program& program, const Gaps& gaps)
      : program_(program),
        gaps_(gaps),
        recipes_(find_recipes(program, gaps)),
        gaps_of_(program.versions().size()),
        until_(program.versions().size(), program.op_count()) {
    for (GapId g = 0; g < gaps.count(); ++g) gaps_of_[index(gaps[g].version)].push_back(g);
  }

  std::vector<bool> find() {
    find_ends();
    std::vector<bool> evictable(static_cast<std::size_t>(gaps_.count()), false);
    const std::vector<OpIndex> ends = until_;
    for (OpIndex i = 0; i < program_.op_count(); ++i) {
      if (!program_.op(i).replayable) continue;
      OpIndex all = program_.op_count();
      for (VersionId input : program_.inputs(i)) all = std::min(all, until_[index(input)]);
      for (const OpOutput& output : program_.outputs(i)) {
        bool stays = !program_.managed(program_.version(output.version).block);
        for (GapId g : gaps_of_[index(output.version)]) {
          evictable[static_cast<std::size_t>(g)] = can_be_made(g, all);
          stays = stays || !can_be_made(g, all);
        }
        until_[index(output.version)] = stays ? std::max(all, ends[index(output.version)]) : all;
      }
    }
    return evictable;
  }

 private:
  static std::size_t index(VersionId v) { return static_cast<std::size_t>(v); }

  // Until which op every content is there if it is never lost.
  void find_ends() {
    for (BlockId b = 0; b < program_.block_count(); ++b) {
      const Block& block = program_.block(b);
      VersionId before = block.lifetime == Lifetime::local ? -1 : b;
      for (const BlockAccess& access : program_.accesses(b)) {
        if (access.version != before && before >= 0) until_[index(before)] = access.op;
        before = access.version;
      }
      if (before >= 0 && block.lifetime == Lifetime::local) until_[index(before)] = block.death;
      if (block.lifetime != Lifetime::wrapping) continue;
      until_[index(b)] = std::min(until_[index(b)], block.death);
      for (const BlockAccess& access : program_.accesses(b))
        if (access.op <= block.death)
          until_[index(access.version)] = std::min(until_[index(access.version)], block.death);
    }
  }

  bool can_be_made(GapId g, OpIndex all) const {
    const Gap& gap = gaps_[g];
    const OpIndex last = gap.kind == GapKind::trailing ? gap.to - 1 : gap.to;
    return recipes_[static_cast<std::size_t>(g)].remakable && gap.to <= program_.op_count() && all >= last;
  }

  const Program& program_;
  const Gaps& gaps_;
  const std::vector<Recipe> recipes_;
  std::vector<std::vector<GapId>> gaps_of_;  // by version
  std::vector<OpIndex> until_;               // by version: the last op before which it can be had
};

}  // namespace

OnlineWalk::OnlineWalk(const PlanningProblem& problem, LossMeasure measure)
    : problem_(problem),
      program_(problem.program),
      gaps_(problem.gaps),
      builder_(problem.program),
      costs_(problem.program, problem.machine, measure),
      evictable_(Evictable(problem.program, problem.gaps).find()),
      presence_(presence_at_start(problem.program)),
      gap_of_(program_.blocks().size(), -1),
      present_since_(program_.blocks().size(), 0),
      last_use_(program_.blocks().size(), 0),
      pinned_at_(program_.blocks().size(), kNoOp),
      read_at_(program_.blocks().size(), kNoOp),
      given_up_at_(program_.versions().size(), kNoOp),
      idle_place_(program_.blocks().size(), kNowhere),
      plan_(Plan::keep_all(gaps_)) {
  present_ = program_.info().unmanaged;
  for (BlockId b = 0; b < program_.block_count(); ++b)
    if (where(b) == Whereabouts::resident) present_ += bytes_of(b);
}

PlanningResult OnlineWalk::run() {
  PlanningResult result;
  for (OpIndex j = 0; j < program_.op_count(); ++j) {
    if (auto infeasible = make_room(j)) {
      result.infeasible = std::move(infeasible);
      return result;
    }
    run_op_at(j);
  }
  result.plan = std::move(plan_);
  return result;
}

std::optional<Infeasible> OnlineWalk::make_room(OpIndex j) {
  wanted_.clear();
  for (const Access& access : program_.op(j).accesses) {
    pinned_at_[static_cast<std::size_t>(access.block)] = j;
    if (where(access.block) == Whereabouts::dropped) wanted_.push_back(current(access.block));
  }
  for (Bytes peak = 0;;) {
    if (!replay_what_is_missing(j, peak))
      return Infeasible{Obstacle::not_remakable, j, program_.version(builder_.missing()).block, 0, 0,
                        "a source of it is gone"};
    if (peak <= problem_.limit) break;
    if (!evict_one(j)) return Infeasible{Obstacle::too_large, j, -1, peak, problem_.limit, ""};
  }
  settle_replay(j);
  return std::nullopt;
}

// Builds the replay for what op j misses, with all that it makes on the way staying unless given up.
bool OnlineWalk::replay_what_is_missing(OpIndex j, Bytes& peak) {
  kept_.clear();
  peak = present_ + op_need(j);
  if (wanted_.empty()) return true;
  if (!builder_.collect(presence_, wanted_)) return false;
  for (OpIndex i : builder_.ops())
    for (VersionId input : program_.inputs(i))
      read_at_[static_cast<std::size_t>(program_.version(input).block)] = j;
  for (VersionId v : wanted_) peak += bytes_of(program_.version(v).block);
  for (VersionId v : builder_.made())
    if (!builder_.kept(v) && may_stay(v, j)) kept_.push_back(v);
  for (VersionId v : kept_) {
    builder_.keep(v);
    peak += bytes_of(program_.version(v).block);
  }
  builder_.build_steps(j);
  for (std::size_t k = 0; k < builder_.steps().size(); ++k)
    peak = std::max(peak, present_ + builder_.usage(k));
  return true;
}

bool OnlineWalk::may_stay(VersionId v, OpIndex j) const {
  const BlockId b = program_.version(v).block;
  const GapId g = gap_of(b);
  return presence_.where[static_cast<std::size_t>(b)] == Whereabouts::dropped &&
         presence_.current[static_cast<std::size_t>(b)] == v && g >= 0 &&
         gaps_[g].kind != GapKind::trailing && given_up_at_[static_cast<std::size_t>(v)] != j;
}

double OnlineWalk::loss(BlockId b) {
  const Nanoseconds idle = std::max<Nanoseconds>(1, now_ - last_use_[static_cast<std::size_t>(b)]);
  return static_cast<double>(costs_.cost(current(b))) /
         (static_cast<double>(bytes_of(b)) * static_cast<double>(idle));
}

// First what nobody here asks for, then what the replay made on its way, then what it reads.
bool OnlineWalk::evict_one(OpIndex j) {
  BlockId victim = -1, source = -1;
  double least = 0, least_source = 0;
  for (BlockId b : idle_) {
    if (pinned_at_[static_cast<std::size_t>(b)] == j) continue;
    const double here = loss(b);
    const bool read = read_at_[static_cast<std::size_t>(b)] == j && !wanted_.empty();
    BlockId& best = read ? source : victim;
    double& value = read ? least_source : least;
    if (best >= 0 && (here > value || (here == value && b > best))) continue;
    best = b;
    value = here;
  }
  if (victim < 0 && !kept_.empty()) {
    const VersionId last = *std::min_element(kept_.begin(), kept_.end());
    given_up_at_[static_cast<std::size_t>(last)] = j;
    return true;
  }
  if (victim < 0) victim = source;
  if (victim < 0) return false;
  evict(victim, j);
  return true;
}

void OnlineWalk::evict(BlockId b, OpIndex j) {
  const GapId g = gap_of(b);
  Decision& decision = plan_[g];
  decision.action = Action::recompute;
  if (!decision.stays) decision.stays.emplace();
  const OpIndex since = present_since_[static_cast<std::size_t>(b)];
  if (since < j) decision.stays->push_back({since, j});
  given_up_at_[static_cast<std::size_t>(current(b))] = j;
  where(b) = Whereabouts::dropped;
  present_ -= bytes_of(b);
  costs_.lost(current(b));
  free_block(b);
}

void OnlineWalk::free_block(BlockId b) {
  std::size_t& place = idle_place_[static_cast<std::size_t>(b)];
  if (place == kNowhere) return;
  idle_[place] = idle_.back();
  idle_place_[static_cast<std::size_t>(idle_.back())] = place;
  idle_.pop_back();
  place = kNowhere;
}

void OnlineWalk::settle_replay(OpIndex j) {
  if (wanted_.empty()) return;
  for (OpIndex i : builder_.ops()) {
    now_ += problem_.machine.op_time(program_.op(i));
    for (VersionId input : program_.inputs(i))
      last_use_[static_cast<std::size_t>(program_.version(input).block)] = now_;
  }
  for (const auto* list : {&wanted_, &kept_})
    for (VersionId v : *list) {
      const BlockId b = program_.version(v).block;
      where(b) = Whereabouts::resident;
      present_ += bytes_of(b);
      present_since_[static_cast<std::size_t>(b)] = j;
      last_use_[static_cast<std::size_t>(b)] = now_;
      costs_.found(v);
      if (list == &wanted_) continue;
      idle_place_[static_cast<std::size_t>(b)] = idle_.size();
      idle_.push_back(b);
    }
}

void OnlineWalk::run_op_at(OpIndex j) {
  for (const Access& access : program_.op(j).accesses) {
    const BlockId b = access.block;
    const GapId g = gap_of(b);
    // Made again before this op: it stayed until here.
    const OpIndex since = present_since_[static_cast<std::size_t>(b)];
    if (g >= 0 && plan_[g].action == Action::recompute && since < j) plan_[g].stays->push_back({since, j});
    gap_of_[static_cast<std::size_t>(b)] = -1;
    free_block(b);
  }
  now_ += problem_.machine.op_time(program_.op(j));
  for (const OpOutput& output : program_.outputs(j))
    if (output.replaces >= 0) costs_.lost(output.replaces);
  run_op(program_, j, presence_);
  present_ += program_.birth_bytes(j);
  for (const OpOutput& output : program_.outputs(j)) costs_.found(output.version);
  for (const Access& access : program_.op(j).accesses) {
    const BlockId b = access.block;
    last_use_[static_cast<std::size_t>(b)] = now_;
    const GapId g = gaps_.find(b, j);
    gap_of_[static_cast<std::size_t>(b)] = g;
    present_since_[static_cast<std::size_t>(b)] = j + 1;
    if (g < 0 || !evictable_[static_cast<std::size_t>(g)]) continue;
    idle_place_[static_cast<std::size_t>(b)] = idle_.size();
    idle_.push_back(b);
  }
  for (BlockId b : program_.deaths(j)) {
    if (where(b) == Whereabouts::resident) present_ -= bytes_of(b);
    costs_.lost(current(b));
    free_block(b);
    where(b) = Whereabouts::dead;
  }
}

}  // namespace ebb
