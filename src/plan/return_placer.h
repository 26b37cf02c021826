// When each swapped block may come back: as early as there is room for it at every op until it is needed.
#pragma once

#include <optional>

#include "plan/lowered.h"
#include "plan/room.h"

namespace ebb {

class ReturnPlacer {
 public:
  ReturnPlacer(const Program& program, const Gaps& gaps) : gaps_(gaps), ops_(program.op_count()) {}

  // Sets in_from in order of need (directives first), adds the early presence to `result.need`, orders both
  // links and writes all timing back into `result.plan`. Returns the op that does not fit, if one does not.
  // REQUIRES: result.swaps with out_after and needed_at, result.need without early returns.
  std::optional<Infeasible> place(const Plan& plan, Bytes limit, LoweredPlan& result);

 private:
  void list_copies(LoweredPlan& result) const;
  void choose_starts(const Plan& plan, Bytes limit, LoweredPlan& result);
  void order_links(const Plan& plan, LoweredPlan& result) const;
  void write_back(LoweredPlan& result) const;

  const Gaps& gaps_;
  const OpIndex ops_;
  Room room_;
};

}  // namespace ebb
