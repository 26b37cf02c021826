// Algorithm 1 of [DQN]: ε-greedy episodes, experience replay, fitted Q-iteration; and the planner made of it.
#pragma once

#include <array>

#include "planners/dqn/trainer.h"
#include "planners/planner.h"

namespace ebb::dqn {

inline constexpr std::array kSettings = {
    Setting{"episodes", 240, "l of Alg. 1, unless --evaluations is given"},
    Setting{"gamma", 0.9, "decay factor of eq. 5"},
    Setting{"epsilon", 1, "share of random actions at the start, down to 0 at the end; 0.3 with --weights"},
    Setting{"width", 16, "p: numbers in a node state; with --weights theirs"},
    Setting{"batch", 8, "samples of one update"},
    Setting{"every", 4, "actions from one update to the next"},
    Setting{"rate", 0.005, "learning rate of the first update; a tenth of it at the end"},
    Setting{"variables", 64, "about so many: smaller idle blocks are decided in groups"},
    Setting{"practice", 0, "1: go on learning once a plan costs nothing, for --save-weights"},
    Setting{"coverage", 0.02, "share of the time above the limit that an idle time must cover"},
};

// options.knowledge: weights to start from, as the result's knowledge hands them back. Rounds: one per
// episode; best: so far, mean: the episode's step time, 0 if it was a dead end.
PlanningResult plan_dqn(const PlanningProblem& problem, const PlannerOptions& options, MakeTrainer make);

}  // namespace ebb::dqn
