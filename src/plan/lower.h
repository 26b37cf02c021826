// Untimed decisions → a timed plan, by the defaults of docs/notes/simulation.md and docs/notes/lowering.md.
#pragma once

#include <memory>
#include <optional>

#include "plan/lowered.h"

namespace ebb {

// Prepared once per program, then run many times. Not thread-safe: one per thread.
class Lowerer {
 public:
  Lowerer(const Program& program, const Gaps& gaps);
  ~Lowerer();
  Lowerer(Lowerer&&) noexcept;
  Lowerer& operator=(Lowerer&&) noexcept;

  // Fills `result` and returns nothing, or returns why the plan cannot be carried out within the limit.
  std::optional<Infeasible> lower(const Plan& plan, Bytes limit, LoweredPlan& result);
  // A plan that replays more ops than this is given up as one that lacks room, lowered up to there; 0: none.
  void give_up_beyond(std::size_t replays);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace ebb
