#include <array>

#include "planners/families.h"
#include "planners/mixed/mixed.h"

namespace ebb {

std::span<const Planner> mixed_planners() {
  static constexpr std::array kPlanners = {
      Planner{"home", "[HOME]", "particle swarm over feature maps: keep, swap or recompute each", plan_home,
              kHomeSettings},
      Planner{"capuchin", "Capuchin", "swaps that hide behind the gap first, then the cheaper of both",
              plan_capuchin},
      Planner{"superneurons", "SuperNeurons", "offloads convolutions, recomputes what lies between them",
              plan_superneurons},
      Planner{"superneurons-swap", "SuperNeurons", "offloads convolutions only", plan_superneurons_swap},
      Planner{"superneurons-recompute", "SuperNeurons", "recomputes what lies between convolutions only",
              plan_superneurons_recompute},
  };
  return kPlanners;
}

}  // namespace ebb
