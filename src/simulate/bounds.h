// Lower bounds on the steady step time of any plan under a limit, for the program's own order of ops.
// What each one says, and why it is valid, is in docs/notes/bounds.md.
//
//   compute   any plan           every op runs once; ops wait for their issue times
//   transfer  swap only          [OFF] Prop. 3: what is above the limit crosses the link once each way
//   cover     recompute only     what is above the limit is dropped, and its writers run again
//   fluid     any, or swap only  both, with links, memory and compute sharing time in slices of the step
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "machine/machine.h"
#include "plan/gaps.h"

namespace ebb {

struct BoundOptions {
  bool workspace = true;    // an op needs its workspace too
  bool slowdown = true;     // copies slow compute down
  int slices = 64;          // of the fluid bound: more is tighter and slower
  double lp_seconds = 600;  // a linear program stopped early still gives a valid, weaker bound
};

enum class PlanKind : char { swap_only, recompute_only, any };
enum class BoundKind : char { compute, transfer, cover, fluid };
inline constexpr std::size_t kPlanKinds = 3;

struct Bound {
  BoundKind kind = BoundKind::compute;
  PlanKind holds_for = PlanKind::any;         // a bound for `any` holds for all plans
  std::optional<Nanoseconds> step_time = {};  // nothing: no such plan keeps the limit
  Bytes least_limit = 0;                      // no such plan keeps a limit below this one
  bool operator==(const Bound&) const = default;
};

struct Bounds {
  Nanoseconds plain_time = 0;  // the step with nothing moved and no limit
  Bound compute;
  Bound transfer;
  Bound cover;
  Bound fluid_swap;
  Bound fluid;

  // The binding one for plans of that kind: none fits, or the largest time.
  const Bound& best(PlanKind kind) const;
  // Step time ÷ plain time; infinite if no plan fits.
  double ratio(const Bound& bound) const;
};

// REQUIRES: `gaps` are the program's; limit >= 0.
Bounds bounds(const Program& program, const Gaps& gaps, const Machine& machine, Bytes limit,
              const BoundOptions& options = {});

std::string_view name_of(BoundKind kind);
std::string_view name_of(PlanKind kind);

}  // namespace ebb
