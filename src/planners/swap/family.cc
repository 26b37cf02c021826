#include <array>

#include "planners/families.h"
#include "planners/swap/swap.h"

namespace ebb {

std::span<const Planner> swap_planners() {
  static constexpr std::array kAutoSwap = {kSmallestCandidate};
  static constexpr std::array kPlanners = {
      Planner{"autoswap-doa", "[SP] §IV", "swaps what can be away longest across the peak", plan_autoswap_doa,
              kAutoSwap},
      Planner{"autoswap-aoa", "[SP] §IV", "swaps what can be away with most bytes x time", plan_autoswap_aoa,
              kAutoSwap},
      Planner{"autoswap-wdoa", "[SP] §IV", "swaps what is idle under the largest area of the load",
              plan_autoswap_wdoa, kAutoSwap},
      Planner{"autoswap-swdoa", "[SP] §IV", "the same, on the load that earlier choices leave",
              plan_autoswap_swdoa, kAutoSwap},
      Planner{"autoswap-bo", "[SP] §IV-C", "the best mix of the four scores, by Bayesian optimisation",
              plan_autoswap_bo, kAutoSwap},
      Planner{"tflms", "Le et al. 2018",
              "the first tensors, back a fixed number of layers before use: best of many", plan_tflms},
      Planner{"geeps", "Cui et al. 2016", "the first layers, double-buffered: as many as it takes",
              plan_geeps},
      Planner{"excess-area", "G10", "most bytes x time above the limit first, while the links can carry it",
              plan_excess_area},
  };
  return kPlanners;
}

}  // namespace ebb
