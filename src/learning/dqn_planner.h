// The learning planner of [DQN], complete: planners/dqn with gradients by libtorch.
#pragma once

namespace ebb::learning {

// Adds `dqn` to planners() and returns true, or returns false if this build has no libtorch.
bool register_dqn();

}  // namespace ebb::learning
