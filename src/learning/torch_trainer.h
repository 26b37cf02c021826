// Gradients for planners that learn, by libtorch. It lives in a module of its own, libebb_gradients.so, that
// is loaded when it is first needed: loading libtorch takes half a second, which nobody who plans otherwise
// should wait for.
#pragma once

#include "planners/dqn/trainer.h"

namespace ebb::learning {

// Was Ebb configured where there is a libtorch?
bool has_torch();
// Throws SystemError if the module cannot be loaded, with the loader's reason.
std::unique_ptr<dqn::Trainer> make_torch_trainer(const dqn::Graph& graph, const dqn::Weights& start);

}  // namespace ebb::learning
