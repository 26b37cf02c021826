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
};

// The plans that keep the limit, best first; at least one entry, which is infeasible if there is none.
// The budget is asked to stop between planners and told the best so far. A given start that does not keep the
// limit is completed until it does. `with_the_dead`: searches with the choices it has if blocks are kept past
// their death; nullptr: none is worth it.
std::vector<StartingPoint> find_starts(const PlanningProblem& problem, const PlannerOptions& options,
                                       const std::vector<Choice>& choices, LocalSearch& search,
                                       LocalSearch* with_the_dead, Evaluator& evaluate,
                                       const SearchBudget& budget);

}  // namespace ebb
