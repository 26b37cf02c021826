// Bounds as text and as JSON.
#pragma once

#include <string>

#include "cli/json.h"
#include "simulate/bounds.h"

namespace ebb::cli {

// For a bound's linear programme: what it has by then holds too.
inline constexpr double kBoundSeconds = 5;

std::string plans_text(PlanKind kind);                             // "swaps only", for people
std::string key_of(PlanKind kind);                                 // "swap_only", for programs
std::string bound_text(const Bounds& bounds, const Bound& bound);  // "1.046 x plain", or the least limit
// kind, holds_for, step_ns and ratio (both null if no such plan keeps the limit), least_limit_bytes.
Json bound_json(const Bounds& bounds, const Bound& bound);

}  // namespace ebb::cli
