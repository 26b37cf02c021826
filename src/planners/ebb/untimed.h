// A decision with all timing left to `lower`.
#pragma once

#include "plan/plan.h"

namespace ebb {

inline Decision untimed(Action action) {
  Decision decision;
  decision.action = action;
  return decision;
}

}  // namespace ebb
