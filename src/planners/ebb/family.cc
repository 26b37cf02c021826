#include <array>

#include "planners/ebb/ebb.h"
#include "planners/families.h"

namespace ebb {

std::span<const Planner> ebb_planners() {
  static constexpr std::array kPlanners = {
      Planner{"ebb", "ours", "keep, move or compute again: constructed by prices, improved by search",
              plan_ebb, kEbbSettings},
  };
  return kPlanners;
}

}  // namespace ebb
