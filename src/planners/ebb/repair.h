// Makes a plan keep the limit by letting more blocks leave, cheapest first: at the op that lacks most, the
// gap with the least price per byte of excess it takes away, there and at all other ops it spans; so until
// nothing seems to be lacking. Then lowering says what still is.
#pragma once

#include <random>

#include "planners/ebb/choices.h"
#include "planners/evaluator.h"

namespace ebb {

// What leaving costs in the eyes of a repair. `link`: the price of a nanosecond of copying that hides behind
// compute, in nanoseconds of step time; `noise`: prices are multiplied by e^(noise · normal).
struct Prices {
  double link = 0.3;
  double noise = 0;
};

class Repair {
 public:
  // REQUIRES: what the problem refers to outlives it, and so do the choices.
  Repair(const PlanningProblem& problem, const std::vector<Choice>& choices)
      : problem_(problem), choices_(choices) {}

  // Changes kept gaps of `plan` until it can be carried out; the result is that of its last evaluation, and
  // infeasible if no way was found. Gaps that `banned` marks (by index of choice) stay kept.
  StepResult operator()(Plan& plan, Evaluator& evaluate, const Prices& prices, std::mt19937_64& random,
                        const std::vector<char>& banned);

  // A plan that lacks room and replays more ops than this is not worth repairing; 0: any is.
  void give_up_beyond(std::size_t replays) { most_replays_ = replays; }

  static double swap_price(const Choice& choice, const Prices& prices);

 private:
  bool evict(Plan& plan, const LoweredPlan& lowered, const Prices& prices, std::mt19937_64& random,
             const std::vector<char>& banned);
  // Some of the cheapest at the op that lacks most, at least one. False: there is none.
  bool evict_some(Plan& plan, OpIndex worst, const Prices& prices, std::mt19937_64& random,
                  const std::vector<char>& banned);
  void sum_up_excess();
  double gain_of(const Choice& choice, OpIndex worst) const;
  bool replace_recomputes(Plan& plan, OpIndex position);

  struct Offer {
    double per_byte = 0;
    std::size_t choice = 0;
    Action action = Action::keep;
    bool operator<(const Offer& other) const {
      return per_byte != other.per_byte ? per_byte < other.per_byte : choice < other.choice;
    }
  };

  const PlanningProblem& problem_;
  const std::vector<Choice>& choices_;
  std::size_t most_replays_ = 0;
  std::vector<Offer> offers_;
  std::vector<Bytes> need_;                  // by op, with what has left since it was lowered taken off
  std::vector<Bytes> excess_;                // there
  std::vector<Bytes> excess_before_;         // prefix sums of it
  std::vector<std::int32_t> shorts_before_;  // by unrolled op: how many short ops lie before it
};

}  // namespace ebb
