// One op on its way through the device: which blocks it uses, the function the device runs, what becomes of
// its results.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include "torch/op_profile.h"
#include "torch/recipe.h"
#include "torch/steward.h"

namespace ebb::torch_adapter {

// The blocks among an op's arguments, each as often as it occurs.
struct Operands {
  c10::SmallVector<Handle, 8> reads;
  c10::SmallVector<Handle, 4> writes;
  c10::SmallVector<Handle, 2> side_effects;
  c10::SmallVector<BlockRecord*, 8> records;  // each once
  Bytes bytes = 0;                            // they take in the arena
  bool on_device = false;                     // is any argument there, ours or not?
  bool asks_for_device = false;               // is it named by an argument?
  bool has_tensors = false;
};

Operands operands_of(Steward& steward, const OpProfile& profile, c10::ArrayRef<c10::IValue> arguments);

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
  // REQUIRES: the steward's lock is held; the arguments are on top of the stack; all outlives this.
  OpRun(Steward& steward, const OpProfile& profile, const c10::OperatorHandle& op, c10::DispatchKeySet below,
        torch::jit::Stack& stack, const Operands& operands);

  // Leaves the results on the stack; where it throws WantOfMemory, the arguments.
  void exec();

 private:
  void run(ExecContext& context);
  void prepare_attempt();
  std::shared_ptr<CallRecipe> make_recipe() const;
  void take_results(RunningOp& running, CallRecipe* recipe);
  void keep_integers();
  void settle();

  Steward& steward_;
  const OpProfile& profile_;
  const c10::OperatorHandle& op_;
  c10::DispatchKeySet below_;
  torch::jit::Stack& stack_;
  const Operands& operands_;
  std::size_t base_;  // of the stack, without the arguments
  bool replayable_;
  int attempts_ = 0;
  c10::SmallVector<c10::IValue, 12> arguments_;  // for a second attempt
  std::optional<at::Generator> generator_argument_;
  std::shared_ptr<GeneratorState> generator_;
  Bytes inside_ = 0;
  bool result_without_storage_ = false;
  c10::SmallVector<BlockRecord*, 2> unwritten_;  // births that a result shows, of an op that writes nothing
  c10::SmallVector<BlockRecord*, 2> hidden_;     // births that no result shows
};

}  // namespace ebb::torch_adapter
