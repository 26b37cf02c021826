// The iteration a Device has found, and the plan it follows, for those who want to look at them.
#pragma once

#include <memory>

#include "machine/machine.h"

namespace ebb {

struct PreparedPlan;
struct ScriptedIteration;

struct FollowedStep {
  std::shared_ptr<const ScriptedIteration> iteration;
  std::shared_ptr<const PreparedPlan> plan;  // null: there is none
  Machine machine;                           // what is known of it now
};

}  // namespace ebb
