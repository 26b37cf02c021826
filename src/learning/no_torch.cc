#include "learning/torch_trainer.h"
#include "trace/error.h"

namespace ebb::learning {

bool has_torch() { return false; }

std::unique_ptr<dqn::Trainer> make_torch_trainer(const dqn::Graph&, const dqn::Weights&) {
  throw SystemError("this build of Ebb has no libtorch, so nothing can learn");
}

}  // namespace ebb::learning
