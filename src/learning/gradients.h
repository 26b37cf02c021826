// What libebb_gradients.so offers; see torch_trainer.h.
#pragma once

#include "planners/dqn/trainer.h"

extern "C" ebb::dqn::Trainer* ebb_make_trainer(const ebb::dqn::Graph& graph, const ebb::dqn::Weights& start);
