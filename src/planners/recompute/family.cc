#include <array>

#include "planners/families.h"
#include "planners/recompute/recompute.h"

namespace ebb {

std::span<const Planner> recompute_planners() {
  static const std::array kPlanners = {
      Planner{"sublinear", "[SUB] §4.3", "stages by a budget, each computed again as a whole (memonger)",
              plan_sublinear, stage_settings()},
      Planner{"sublinear-cost", "[SUB] §4.3", "the same, keeping what takes longest per byte",
              plan_sublinear_cost, stage_settings()},
      Planner{"checkpoint-sqrt", "[SUB] §4.3", "√n stages of equally many places, each computed again",
              plan_checkpoint_sqrt},
      Planner{"recursive", "[SUB] §4.4", "k results kept in each piece, pieces of pieces in the same way",
              plan_recursive, recursive_settings()},
      Planner{"drop-cheap", "[SUB] §4.2", "drops results that are cheap to make per byte", plan_drop_cheap,
              drop_cheap_settings()},
      Planner{"dtr", "DTR h_DTR",
              "evicts online; counts all lost contents it is made from or that are made from it", plan_dtr},
      Planner{"dtr-eq", "DTR h_eq", "the same by classes of lost contents (union-find)", plan_dtr_eq},
      Planner{"dtr-local", "DTR h_local", "the same by the content's own cost", plan_dtr_local},
  };
  return kPlanners;
}

}  // namespace ebb
