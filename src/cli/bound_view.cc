#include "cli/bound_view.h"

#include <fmt/format.h>

#include "cli/table.h"
#include "machine/units.h"

namespace ebb::cli {

std::string plans_text(PlanKind kind) {
  switch (kind) {
    case PlanKind::swap_only:
      return "swaps only";
    case PlanKind::recompute_only:
      return "recomputes only";
    case PlanKind::any:
      break;
  }
  return "any plan";
}

std::string key_of(PlanKind kind) {
  switch (kind) {
    case PlanKind::swap_only:
      return "swap_only";
    case PlanKind::recompute_only:
      return "recompute_only";
    case PlanKind::any:
      break;
  }
  return "any";
}

std::string bound_text(const Bounds& bounds, const Bound& bound) {
  if (!bound.step_time) return fmt::format("does not fit below {}", format_bytes(bound.least_limit));
  return fmt::format("{} x plain ({})", factor(bounds.ratio(bound)), format_time(*bound.step_time));
}

Json bound_json(const Bounds& bounds, const Bound& bound) {
  return {{"kind", name_of(bound.kind)},
          {"holds_for", key_of(bound.holds_for)},
          {"step_ns", bound.step_time ? Json(*bound.step_time) : Json()},
          {"ratio", bound.step_time ? Json(bounds.ratio(bound)) : Json()},
          {"least_limit_bytes", bound.least_limit}};
}

}  // namespace ebb::cli
