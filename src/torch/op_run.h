// One op on its way through the device: the function the device runs, and what becomes of its results.
#pragma once

#include "torch/call.h"

namespace ebb::torch_adapter {

// While it lives, integers that ops of the current thread make stay where they are: code of torch's own keeps
// an address into them across ops. REQUIRES: destroyed in the thread that made it.
class IntegersStay {
 public:
  IntegersStay();
  ~IntegersStay();
  IntegersStay(const IntegersStay&) = delete;
  IntegersStay& operator=(const IntegersStay&) = delete;
};

class OpRun {
 public:
  // REQUIRES: the steward's lock is held; all outlives this.
  OpRun(Steward& steward, Call& call, const Operands& operands);

  // Afterwards the call has its results; where it throws WantOfMemory, its arguments.
  void exec();

 private:
  void run(ExecContext& context);
  void prepare_attempt();
  std::shared_ptr<CallRecipe> make_recipe() const;
  void take_results(RunningOp& running, CallRecipe* recipe);
  void keep_integers();
  void settle();

  Steward& steward_;
  Call& call_;
  const OpProfile& profile_;
  const Operands& operands_;
  bool replayable_;
  int attempts_ = 0;
  std::optional<at::Generator> generator_argument_;
  std::shared_ptr<GeneratorState> generator_;
  Bytes inside_ = 0;
  bool result_without_storage_ = false;
  c10::SmallVector<BlockRecord*, 2> unwritten_;  // births that a result shows, of an op that writes nothing
  c10::SmallVector<BlockRecord*, 2> hidden_;     // births that no result shows
};

}  // namespace ebb::torch_adapter
