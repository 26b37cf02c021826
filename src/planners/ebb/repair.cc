#include "planners/ebb/repair.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ebb {
namespace {

constexpr double kNoWay = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewOps = 32;  // whose excess is added up one by one
// One in so many of those that may leave does, before prices are asked again.
constexpr std::size_t kAtOnce = 128;

}  // namespace

double Repair::swap_price(const Choice& choice, const Prices& prices) {
  const auto copies = static_cast<double>(choice.copies);
  return prices.link * copies + std::max(0.0, copies - static_cast<double>(choice.span)) +
         static_cast<double>(choice.issue);
}

StepResult Repair::operator()(Plan& plan, Evaluator& evaluate, const Prices& prices, std::mt19937_64& random,
                              const std::vector<char>& banned) {
  StepResult result = evaluate(plan);
  for (std::size_t rounds = 2 * choices_.size() + 8; result.infeasible && rounds > 0; --rounds) {
    if (most_replays_ > 0 && evaluate.lowered().replays.size() > most_replays_) break;
    const Infeasible& why = *result.infeasible;
    const bool changed = why.obstacle == Obstacle::too_large
                             ? evict(plan, evaluate.lowered(), prices, random, banned)
                         : why.obstacle == Obstacle::not_remakable ? replace_recomputes(plan, why.op)
                                                                   : false;
    if (!changed) break;
    result = evaluate(plan);
  }
  return result;
}

bool Repair::evict(Plan& plan, const LoweredPlan& lowered, const Prices& prices, std::mt19937_64& random,
                   const std::vector<char>& banned) {
  need_ = lowered.need;
  bool evicted = false;
  for (;;) {
    const auto worst = std::max_element(need_.begin(), need_.end());
    if (*worst <= problem_.limit) return true;
    if (!evict_some(plan, static_cast<OpIndex>(worst - need_.begin()), prices, random, banned))
      return evicted;
    evicted = true;
  }
}

void Repair::sum_up_excess() {
  const OpIndex n = problem_.program.op_count();
  excess_before_.assign(1, 0);
  shorts_before_.assign(static_cast<std::size_t>(2 * n) + 1, 0);
  excess_.clear();
  for (OpIndex u = 0; u < 2 * n; ++u) {
    const Bytes lack = need_[static_cast<std::size_t>(u < n ? u : u - n)] - problem_.limit;
    if (lack > 0) {
      excess_.push_back(lack);
      excess_before_.push_back(excess_before_.back() + lack);
    }
    shorts_before_[static_cast<std::size_t>(u) + 1] = static_cast<std::int32_t>(excess_.size());
  }
}

// Bytes of excess, where the op that lacks most counts as much as all others together.
double Repair::gain_of(const Choice& choice, OpIndex worst) const {
  const auto from = static_cast<std::size_t>(shorts_before_[static_cast<std::size_t>(choice.first)]);
  const auto to = static_cast<std::size_t>(shorts_before_[static_cast<std::size_t>(choice.last) + 1]);
  Bytes area = 0;
  if (to - from <= kFewOps)
    for (std::size_t i = from; i < to; ++i) area += std::min(choice.bytes, excess_[i]);
  else
    area = std::min(excess_before_[to] - excess_before_[from], choice.bytes * static_cast<Bytes>(to - from));
  const Bytes here = std::min(choice.bytes, need_[static_cast<std::size_t>(worst)] - problem_.limit);
  return static_cast<double>(area) / static_cast<double>(std::max<std::size_t>(excess_.size() / 2, 1)) +
         static_cast<double>(here);
}

bool Repair::evict_some(Plan& plan, OpIndex worst, const Prices& prices, std::mt19937_64& random,
                        const std::vector<char>& banned) {
  const OpIndex n = problem_.program.op_count();
  sum_up_excess();
  std::normal_distribution<double> normal;
  offers_.clear();
  for (std::size_t c = 0; c < choices_.size(); ++c) {
    const Choice& choice = choices_[c];
    if (banned[c] || plan[choice.gap].action != Action::keep || !choice.covers(worst, n)) continue;
    const double fuzz = prices.noise > 0 ? std::exp(prices.noise * normal(random)) : 1.0;
    const double remake = choice.can_recompute ? static_cast<double>(choice.remake) : kNoWay;
    const double move = choice.can_swap ? swap_price(choice, prices) : kNoWay;
    offers_.push_back({(std::min(remake, move) + 1) * fuzz / gain_of(choice, worst), c,
                       move < remake ? Action::swap : Action::recompute});
  }
  if (offers_.empty()) return false;
  const std::size_t most = std::max<std::size_t>(offers_.size() / kAtOnce, 1);
  std::partial_sort(offers_.begin(), offers_.begin() + static_cast<std::ptrdiff_t>(most), offers_.end());
  for (std::size_t i = 0; i < most && need_[static_cast<std::size_t>(worst)] > problem_.limit; ++i) {
    const Choice& chosen = choices_[offers_[i].choice];
    plan[chosen.gap] = untimed(offers_[i].action);
    for (OpIndex u = chosen.first; u <= chosen.last; ++u)
      need_[static_cast<std::size_t>(u < n ? u : u - n)] -= chosen.bytes;
  }
  return true;
}

// What cannot be made again at this position moves to the host instead, or stays.
bool Repair::replace_recomputes(Plan& plan, OpIndex position) {
  bool changed = false;
  for (const Choice& choice : choices_) {
    Decision& decision = plan[choice.gap];
    if (decision.action != Action::recompute) continue;
    const Gap& gap = problem_.gaps[choice.gap];
    if (gap.kind == GapKind::trailing ? gap.to <= position : gap.to != position) continue;
    decision = untimed(choice.can_swap ? Action::swap : Action::keep);
    changed = true;
  }
  return changed;
}

}  // namespace ebb
