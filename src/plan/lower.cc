#include "plan/lower.h"

#include "plan/check_decisions.h"
#include "plan/host_copies.h"
#include "plan/lowering_walk.h"
#include "plan/recipes.h"
#include "plan/return_placer.h"

namespace ebb {

// The steps of docs/notes/lowering.md, in order.
class Lowerer::Work {
 public:
  Work(const Program& program, const Gaps& gaps)
      : program_(program), gaps_(gaps), host_(program, gaps), walk_(program, gaps), returns_(program, gaps) {}

  void give_up_beyond(std::size_t replays) { walk_.give_up_beyond(replays); }

  std::optional<Infeasible> lower(const Plan& plan, Bytes limit, LoweredPlan& result) {
    result.plan = plan;
    const auto remakable = [this](GapId g) { return is_remakable(g); };
    if (auto failure = check_recomputes(program_, gaps_, remakable, plan)) return failure;
    list_swaps(plan, result.swaps);
    host_.resolve(plan, result.swaps);
    if (auto failure = check_swaps(program_, gaps_, host_, plan, result.swaps)) return failure;
    walk_.prepare(plan, limit, result);
    do {
      if (auto failure = walk_.run()) return failure;
    } while (walk_.note_early_returns());
    if (auto failure = returns_.place(plan, limit, result)) return failure;
    result.host_peak = host_.peak(result.swaps);
    return std::nullopt;
  }

 private:
  bool is_remakable(GapId g);
  void list_swaps(const Plan& plan, std::vector<Swap>& swaps) const;

  const Program& program_;
  const Gaps& gaps_;
  // By gap, found when first asked for: a plan without recomputation needs none.
  std::vector<char> remakable_;
  HostCopies host_;
  LoweringWalk walk_;
  ReturnPlacer returns_;
};

bool Lowerer::Work::is_remakable(GapId g) {
  if (remakable_.empty()) remakable_ = find_remakable(program_, gaps_);
  return remakable_[static_cast<std::size_t>(g)] != 0;
}

void Lowerer::Work::list_swaps(const Plan& plan, std::vector<Swap>& swaps) const {
  swaps.clear();
  for (GapId g = 0; g < gaps_.count(); ++g) {
    if (plan[g].action != Action::swap) continue;
    const BlockId block = gaps_[g].block;
    swaps.push_back({.gap = g, .block = block, .bytes = program_.block(block).bytes});
  }
}

Lowerer::Lowerer(const Program& program, const Gaps& gaps) : work_(std::make_unique<Work>(program, gaps)) {}
Lowerer::~Lowerer() = default;
Lowerer::Lowerer(Lowerer&&) noexcept = default;
Lowerer& Lowerer::operator=(Lowerer&&) noexcept = default;

void Lowerer::give_up_beyond(std::size_t replays) { work_->give_up_beyond(replays); }

std::optional<Infeasible> Lowerer::lower(const Plan& plan, Bytes limit, LoweredPlan& result) {
  return work_->lower(plan, limit, result);
}

}  // namespace ebb
