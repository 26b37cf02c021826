#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plan/validate.h"

namespace ebb {
namespace {

class PlanCheck {
 public:
  PlanCheck(const Program& program, const Gaps& gaps, const LoweredPlan& lowered)
      : program_(program), gaps_(gaps), lowered_(lowered), n_(program.op_count()) {}

  std::vector<Violation> run() {
    if (lowered_.plan.decisions.size() != static_cast<std::size_t>(gaps_.count())) {
      report(kNoOp, -1,
             fmt::format("the plan decides {} gaps of {}", lowered_.plan.decisions.size(), gaps_.count()));
      return violations_;
    }
    check_swap_list();
    if (!violations_.empty()) return violations_;
    for (GapId g = 0; g < gaps_.count(); ++g)
      if (lowered_.plan[g].action == Action::recompute) check_recompute(g);
    for (const Swap& swap : lowered_.swaps) check_swap(swap);
    check_queues();
    return violations_;
  }

 private:
  void check_swap_list();
  void check_recompute(GapId g);
  void check_swap(const Swap& swap);
  void check_copy_out(const Swap& swap);
  void check_queues();
  void check_queue(const char* which, const std::vector<std::int32_t>& queue,
                   std::vector<std::int32_t> expected, auto rank);
  bool is_clean(const Swap& swap) const;

  // How many ops before the gap's `from` the block was last used at `op`, or nothing if that was another life
  // of it.
  std::optional<OpIndex> ops_back(const Gap& gap, OpIndex op) const;
  // The last op up to the gap's `from` that changes the block's bytes; negative: in the iteration before.
  std::optional<OpIndex> last_write(const Gap& gap) const;

  void report(OpIndex op, BlockId block, std::string sentence) {
    violations_.push_back({Rule::directive, op, block, std::move(sentence)});
  }
  void report(const Gap& gap, std::string_view what) {
    report(gap.from, gap.block, fmt::format("block {} after op {}: {}", gap.block, gap.from, what));
  }

  const Program& program_;
  const Gaps& gaps_;
  const LoweredPlan& lowered_;
  const OpIndex n_;
  std::vector<Violation> violations_;
};

void PlanCheck::check_swap_list() {
  std::vector<GapId> expected;
  for (GapId g = 0; g < gaps_.count(); ++g)
    if (lowered_.plan[g].action == Action::swap) expected.push_back(g);
  std::vector<GapId> listed;
  for (const Swap& swap : lowered_.swaps) listed.push_back(swap.gap);
  if (listed != expected) {
    report(kNoOp, -1,
           fmt::format("{} swaps are listed where {} gaps are swapped", listed.size(), expected.size()));
    return;
  }
  for (const Swap& swap : lowered_.swaps)
    if (swap.block != gaps_[swap.gap].block || swap.bytes != program_.block(swap.block).bytes)
      report(gaps_[swap.gap], "its swap names another block or size");
}

void PlanCheck::check_recompute(GapId g) {
  const Gap& gap = gaps_[g];
  const bool trailing = gap.kind == GapKind::trailing;
  if (gap.to > n_ || (gap.to == n_ && !trailing))
    return report(gap, "a gap that crosses the boundary is recomputed");
  if (!lowered_.plan[g].stays) return report(gap, "its stays are left open");
  OpIndex before = gap.from + 1;
  for (const OpRange& stay : *lowered_.plan[g].stays) {
    if (stay.begin < before || stay.end <= stay.begin || stay.end > (trailing ? n_ : gap.to))
      report(gap, fmt::format("stay [{}, {}) lies outside the gap or another stay", stay.begin, stay.end));
    before = stay.end;
  }
}

void PlanCheck::check_swap(const Swap& swap) {
  const Gap& gap = gaps_[swap.gap];
  const Decision& decision = lowered_.plan[swap.gap];
  const OpIndex leaves = std::max(gap.from, swap.out_after);
  if (swap.clean != is_clean(swap))
    report(gap, swap.clean ? "it leaves without a copy, but the host does not hold its content"
                           : "it is copied out although the host holds its content");
  if (swap.out_after >= gap.to || swap.out_after >= n_)
    report(gap, "out_after lies behind the gap or the iteration");
  if (!swap.clean) check_copy_out(swap);
  if (swap.out_by != decision.out_by || (swap.out_by != kAuto && swap.out_by <= leaves))
    report(gap, "out_by lies before the copy-out or is not what was decided");
  if (gap.kind == GapKind::trailing) return;
  if (swap.in_from <= leaves || swap.in_from > swap.needed_at)
    report(gap, "in_from lies outside the gap or behind the need");
  if (swap.needed_at > gap.to || (decision.in_by != kAuto && swap.needed_at > decision.in_by))
    report(gap, "it is needed later than at its next access or in_by");
}

// A copy-out holds the right bytes if nothing writes, and nothing takes the block away, from its start to
// `from`.
void PlanCheck::check_copy_out(const Swap& swap) {
  const Gap& gap = gaps_[swap.gap];
  if (const auto write = last_write(gap); write && swap.out_after < *write)
    report(gap, "out_after lies before the last write");
  for (GapId other = gaps_.first(gap.block); other < gaps_.last(gap.block); ++other) {
    if (other == swap.gap || lowered_.plan[other].action == Action::keep) continue;
    const auto back = ops_back(gap, gaps_[other].from);
    if (back && gap.from - *back + gaps_[other].to - gaps_[other].from > swap.out_after)
      report(gap, fmt::format("it is absent after op {}, where its copy-out may start", gaps_[other].from));
  }
}

std::optional<OpIndex> PlanCheck::ops_back(const Gap& gap, OpIndex op) const {
  const Block& block = program_.block(gap.block);
  const OpIndex back = (gap.from - op + n_) % n_;
  if (block.lifetime == Lifetime::persistent) return back;
  const OpIndex since_birth = (gap.from - block.birth + n_) % n_;
  return back <= since_birth ? std::optional(back) : std::nullopt;
}

std::optional<OpIndex> PlanCheck::last_write(const Gap& gap) const {
  std::optional<OpIndex> last;
  for (const BlockAccess& access : program_.accesses(gap.block))
    if (const auto back = ops_back(gap, access.op); access.writes && back)
      last = std::max(last.value_or(gap.from - *back), gap.from - *back);
  return last;
}

// The host holds the content if nothing ever writes it, or if a swap since the last write has left a copy.
bool PlanCheck::is_clean(const Swap& swap) const {
  const Gap& gap = gaps_[swap.gap];
  const auto write = last_write(gap);
  if (!write && program_.block(gap.block).lifetime == Lifetime::persistent) return true;
  return std::any_of(lowered_.swaps.begin(), lowered_.swaps.end(), [&](const Swap& other) {
    if (other.block != swap.block || other.gap == swap.gap) return false;
    const auto back = ops_back(gap, gaps_[other.gap].from);
    return back && (!write || gap.from - *back >= *write);
  });
}

void PlanCheck::check_queues() {
  std::vector<std::int32_t> outs, ins;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(lowered_.swaps.size()); ++i) {
    const Swap& swap = lowered_.swaps[static_cast<std::size_t>(i)];
    if (!swap.clean) outs.push_back(i);
    if (gaps_[swap.gap].kind != GapKind::trailing) ins.push_back(i);
  }
  check_queue("out", lowered_.outs, outs, [&](const Swap& swap) {
    const OpIndex order = lowered_.plan[swap.gap].out_order;
    return order == kAuto ? gaps_[swap.gap].from : order;
  });
  check_queue("in", lowered_.ins, ins, [&](const Swap& swap) {
    const OpIndex order = lowered_.plan[swap.gap].in_order;
    return order == kAuto ? swap.needed_at % n_ : order;
  });
}

void PlanCheck::check_queue(const char* which, const std::vector<std::int32_t>& queue,
                            std::vector<std::int32_t> expected, auto rank) {
  std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
    return rank(lowered_.swaps[static_cast<std::size_t>(a)]) <
           rank(lowered_.swaps[static_cast<std::size_t>(b)]);
  });
  if (queue == expected) return;
  BlockId block = -1;
  for (std::size_t i = 0; i < std::min(queue.size(), expected.size()) && block < 0; ++i)
    if (queue[i] != expected[i]) block = lowered_.swaps[static_cast<std::size_t>(expected[i])].block;
  report(kNoOp, block, fmt::format("the copy-{} queue is not in its order, first at block {}", which, block));
}

}  // namespace

std::vector<Violation> validate(const Program& program, const Gaps& gaps, const LoweredPlan& lowered) {
  return PlanCheck(program, gaps, lowered).run();
}

}  // namespace ebb
