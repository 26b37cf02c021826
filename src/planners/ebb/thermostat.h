// The temperature of annealing. It goes up and down by itself so that the wanted share of the worse plans is
// accepted, whatever a change costs on this program: a tenth at first, hardly any at the end.
#pragma once

#include <cmath>

namespace ebb {

class Thermostat {
 public:
  explicit Thermostat(double temperature) : temperature_(temperature) {}

  // Is a plan that is worse by this much accepted? `left` of the budget, 1 … 0; `dice` in [0, 1).
  bool accepts(double worse, double left, double dice) {
    const bool accepted = worse <= -temperature_ * std::log(dice + 1e-12);
    share_ += kMemory * ((accepted ? 1 : 0) - share_);
    temperature_ *= share_ > wanted(left) ? 1 - kStep : 1 + kStep;
    return accepted;
  }
  static double wanted(double left) { return kAtFirst * std::pow(kCooling, left - 1); }

 private:
  static constexpr double kAtFirst = 0.1;
  static constexpr double kCooling = 200;  // times less at the end
  static constexpr double kMemory = 0.01;
  static constexpr double kStep = 0.02;

  double temperature_;
  double share_ = kAtFirst;  // accepted among the last hundred worse plans, roughly
};

}  // namespace ebb
