#include <fmt/format.h>

#include <array>

#include "planners/planner.h"
#include "trace/error.h"

namespace ebb {
namespace {

constexpr std::array kPlanners = {
    Planner{"keep", "-", "nothing moves; answers whether the step fits as it is", plan_keep},
    Planner{"ondemand", "[SP] §V",
            "reactive LRU swapping without prefetch, as in a runtime's first iterations", plan_ondemand},
};

}  // namespace

std::span<const Planner> planners() { return kPlanners; }

const Planner& find_planner(std::string_view name) {
  std::string known;
  for (const Planner& planner : kPlanners) {
    if (planner.name == name) return planner;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", planner.name);
  }
  throw InputError(fmt::format("there is no planner '{}'; the planners are: {}", name, known));
}

}  // namespace ebb
