// Where the search begins: plans of the other planners, and plans built from nothing at several prices of the
// link.
#pragma once

#include "planners/ebb/local_search.h"

namespace ebb {

struct StartingPoint {
  Incumbent incumbent = {};
  std::string from = {};    // a planner's name, or "prices"
  double link_price = 0.3;  // that it was built with, or a middling one
  bool outliving = false;   // was it built with blocks kept past their death?
  bool built = false;       // from nothing, not by another planner
};

// Those that are as good stay in their order.
void put_best_first(std::vector<StartingPoint>& points);

struct Starts {
  std::vector<StartingPoint> points = {};  // best first; at least one, which is infeasible if there is none
  std::int64_t evaluations = 0;
};

// The plans that keep the limit, the same whether one thread looks for them or two. The budget is asked to
// stop between planners, from any thread, and told the best so far. A given start that does not keep the
// limit is completed until it does. `with_the_dead`: searches with the choices it has if blocks are kept past
// their death; nullptr: none is worth it.
Starts find_starts(const PlanningProblem& problem, const PlannerOptions& options,
                   const std::vector<Choice>& choices, LocalSearch& search, LocalSearch* with_the_dead,
                   Evaluator& evaluate, const SearchBudget& budget);

}  // namespace ebb
