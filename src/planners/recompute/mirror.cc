#include "planners/recompute/mirror.h"

#include <algorithm>

#include "plan/turn.h"

namespace ebb {

Mirror::Mirror(const Program& program, const Gaps& gaps)
    : program_(program),
      gaps_(gaps),
      turn_(find_turn(program)),
      recipes_(find_recipes(program, gaps)),
      stays_anyway_(program.versions().size(), false) {
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const Block& block = program.block(b);
    if (block.lifetime != Lifetime::local || block.birth >= turn_ || block.death < turn_) continue;
    VersionId at_the_turn = program.version_at_birth(b);
    for (const BlockAccess& access : program.accesses(b))
      if (access.op < turn_) at_the_turn = access.version;
    stays_anyway_[static_cast<std::size_t>(at_the_turn)] = true;
  }
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    const bool over_the_turn = gap.from < turn_ && gap.to > turn_;
    const bool local = program.block(gap.block).lifetime == Lifetime::local;
    if (!over_the_turn || !local || !recipe(g).remakable) continue;
    droppable_.push_back(g);
    stays_anyway_[static_cast<std::size_t>(gap.version)] = false;
  }
}

void Mirror::respect_the_program(MirrorCounts& counts) const {
  counts.resize(program_.ops().size(), 0);
  for (OpIndex i = 0; i < program_.op_count(); ++i) {
    int& count = counts[static_cast<std::size_t>(i)];
    if (i >= turn_ || !program_.op(i).replayable) count = 0;
  }
  for (OpIndex i = turn_; i-- > 0;)
    for (const OpOutput& output : program_.outputs(i)) {
      if (output.replaces < 0) continue;
      const OpIndex before = program_.version(output.replaces).writer;
      if (before < 0 || before >= i) continue;
      int& count = counts[static_cast<std::size_t>(before)];
      count = std::max(count, counts[static_cast<std::size_t>(i)]);
    }
}

void Mirror::make(OpIndex op, int copy, OpIndex at) {
  stack_.assign(1, {op, copy});
  while (!stack_.empty()) {
    const auto [i, k] = stack_.back();
    stack_.pop_back();
    Copy& made = copy_of(i, k);
    made.last_use = at;
    if (made.made_at != kNoOp) continue;
    made.made_at = at;
    for (VersionId input : program_.inputs(i)) {
      const OpIndex maker = program_.version(input).writer;
      if (maker < 0 || maker >= turn_) continue;
      const bool there = stays_anyway_[static_cast<std::size_t>(input)];
      const int reads = there ? 0 : std::min(k, (*counts_)[static_cast<std::size_t>(maker)]);
      if (reads > 0)
        stack_.emplace_back(maker, reads);
      else
        read_until_[static_cast<std::size_t>(input)] = at;
    }
  }
}

std::vector<OpRange> Mirror::stays_of(GapId g, OpIndex maker, int count) {
  std::vector<OpRange> stays;
  for (int k = 1; k <= count; ++k) {
    const Copy& copy = copy_of(maker, k);
    if (copy.made_at == kNoOp) continue;
    const bool to_the_end = k == count && gaps_[g].kind != GapKind::trailing;
    const OpRange stay{copy.made_at, to_the_end ? gaps_[g].to : copy.last_use + 1};
    const bool outlives_its_replay = to_the_end ? stay.begin < stay.end : copy.last_use > copy.made_at;
    if (outlives_its_replay) stays.push_back(stay);
  }
  std::sort(stays.begin(), stays.end(), [](const OpRange& a, const OpRange& b) { return a.begin < b.begin; });
  std::vector<OpRange> apart;
  for (const OpRange& stay : stays) {
    if (!apart.empty() && stay.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, stay.end);
    else
      apart.push_back(stay);
  }
  return apart;
}

Plan Mirror::plan(MirrorCounts counts) {
  respect_the_program(counts);
  counts_ = &counts;
  first_copy_.clear();
  std::size_t total = 0;
  for (int count : counts) {
    first_copy_.push_back(total);
    total += static_cast<std::size_t>(count);
  }
  copies_.assign(total, {});
  read_until_.assign(program_.versions().size(), kNoOp);
  for (OpIndex j = turn_; j < program_.op_count(); ++j)
    for (VersionId input : program_.inputs(j)) {
      const OpIndex maker = program_.version(input).writer;
      if (maker < 0 || maker >= turn_ || stays_anyway_[static_cast<std::size_t>(input)]) continue;
      const int count = counts[static_cast<std::size_t>(maker)];
      if (count > 0) make(maker, count, j);
    }
  Plan plan = Plan::keep_all(gaps_);
  for (GapId g : droppable_) {
    const OpIndex maker = program_.version(gaps_[g].version).writer;
    const int count = counts[static_cast<std::size_t>(maker)];
    if (count > 0) plan[g] = {.action = Action::recompute, .stays = stays_of(g, maker, count)};
  }
  // What only replays read outlives its death in the program: kept, or made again and then read more than
  // once.
  for (GapId g = 0; g < gaps_.count(); ++g) {
    const Gap& gap = gaps_[g];
    const OpIndex maker = program_.version(gap.version).writer;
    if (gap.kind != GapKind::trailing || plan[g].action != Action::keep || maker < 0 || maker >= turn_)
      continue;
    if (program_.block(gap.block).lifetime != Lifetime::local) continue;
    const int count = counts[static_cast<std::size_t>(maker)];
    OpIndex until = read_until_[static_cast<std::size_t>(gap.version)];
    if (count > 0 && gap.from >= turn_) until = std::max(until, copy_of(maker, count).last_use);
    const bool may_go = recipe(g).remakable || gap.to == gap.from + 1;
    if (until >= gap.to)
      plan[g] = {.action = Action::recompute, .stays = std::vector<OpRange>{{gap.from + 1, until + 1}}};
    else if (gap.to <= turn_ && may_go)
      if (auto stays = stays_of(g, maker, count); !stays.empty())
        plan[g] = {.action = Action::recompute, .stays = std::move(stays)};
  }
  return plan;
}

}  // namespace ebb
