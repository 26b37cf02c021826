// Small problems are solved by trying everything: all combinations of decisions, timing by default, and of
// blocks kept past their death for as long as they could serve.
#pragma once

#include "planners/ebb/local_search.h"

namespace ebb {

// How many plans there are; stops counting above `most`.
std::int64_t count_plans(const std::vector<Choice>& choices, const std::vector<OutlivingBlock>& outliving,
                         std::int64_t most);

// The best of all of them; the first one that was found among equals.
Incumbent enumerate_plans(const PlanningProblem& problem, const std::vector<Choice>& choices,
                          const std::vector<OutlivingBlock>& outliving, Evaluator& evaluate);

}  // namespace ebb
