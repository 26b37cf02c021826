#include <array>

#include "planners/basic/basic.h"
#include "planners/families.h"

namespace ebb {

std::span<const Planner> basic_planners() {
  static constexpr std::array kPlanners = {
      Planner{"keep", "-", "nothing moves; answers whether the step fits as it is", plan_keep},
      Planner{"ondemand", "[SP] §V",
              "reactive LRU swapping without prefetch, as in a runtime's first iterations", plan_ondemand},
  };
  return kPlanners;
}

}  // namespace ebb
