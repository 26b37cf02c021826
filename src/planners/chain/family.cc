#include <array>

#include "planners/chain/chain_planners.h"
#include "planners/families.h"

namespace ebb {

std::span<const Planner> chain_planners() {
  static constexpr std::array kDynProgSettings = {kDynProgSlots};
  static constexpr std::array kChainDpSettings = {kChainDpSlots, kChainDpStages};
  static constexpr std::array kVdnnSettings = {kVdnnInputs};
  static constexpr std::array kVdnnPlusSettings = {kVdnnEvery};
  static constexpr std::array kPlanners = {
      Planner{"greedy", "[OFF] §4", "offloads the first activations of the chain, as many as do not fit",
              plan_greedy},
      Planner{"dynprog", "[OFF] §5", "offloads the activations with which the chain idles least",
              plan_dynprog, kDynProgSettings},
      Planner{"chain-dp", "Beaumont 2019",
              "each stage of the chain is stored, or runs again from a checkpoint, whichever costs least",
              plan_chain_dp, kChainDpSettings},
      Planner{"chain-dp-offload", "Beaumont 2019",
              "the same where what is stored may also leave for a price of the link", plan_chain_dp_offload,
              kChainDpSettings},
      Planner{"vdnn", "vDNN", "layer inputs leave and return one layer ahead; every layer waits for the copy",
              plan_vdnn, kVdnnSettings},
      Planner{"vdnn++", "vDNN++", "inputs of all convolutions or of every other leave, without waits",
              plan_vdnn_plus, kVdnnPlusSettings},
      Planner{"vdnn-threshold", "[OFF] §6.1",
              "activations whose layer computes longest per byte leave, all or half of them",
              plan_vdnn_threshold},
  };
  return kPlanners;
}

}  // namespace ebb
