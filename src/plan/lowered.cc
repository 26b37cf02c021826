#include "plan/lowered.h"

#include <fmt/format.h>

namespace ebb {

std::string Infeasible::sentence(const Program& program) const {
  const std::string place = op >= 0 && op < program.op_count()
                                ? fmt::format("op {} '{}'", op, program.op(op).name)
                                : fmt::format("op {}", op);
  const std::string what = block >= 0 ? fmt::format("block {} ({} bytes)", block, program.block(block).bytes)
                                      : std::string("the plan");
  switch (obstacle) {
    case Obstacle::none:
      return "nothing stands in the way";
    case Obstacle::too_large:
      return fmt::format("{} needs {} bytes present, {} more than the limit of {}", place, needed,
                         needed - available, available);
    case Obstacle::not_remakable:
      return fmt::format("{} cannot be computed again at {}: {}", what, place, detail);
    case Obstacle::bad_timing:
      return fmt::format("the timing of {} after {} is impossible: {}", what, place, detail);
    case Obstacle::host_full:
      return fmt::format("the plan needs {} bytes of host memory, but there are {}", needed, available);
    case Obstacle::stuck:
      return fmt::format("{} waits for a copy that waits for it: {}", place, detail);
  }
  return "unknown obstacle";
}

}  // namespace ebb
