// An op as torch called it: its arguments on a stack, or as they are in C++ (typed_call.h).
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <optional>

#include "torch/op_profile.h"
#include "torch/recipe.h"
#include "torch/steward.h"

namespace ebb::torch_adapter {

// The blocks among an op's arguments, each as often as it occurs.
class Operands {
 public:
  explicit Operands(Steward& steward) : steward_(steward), number_(steward.next_op()) {}

  void add(const at::Tensor& tensor, const ArgumentUse& use, bool trains);
  void add(c10::Device asked_for) { asks_for_device_ |= asked_for.type() == steward_.place().type(); }

  // Is it none of our device's business?
  bool elsewhere() const {
    return !on_device_ && !asks_for_device_ && (has_tensors_ || !steward_.place().is_cpu());
  }

  // No view of the same storage is read or written.
  bool side_effects_are_nothing_else() const;

  c10::SmallVector<Handle, 8> reads;
  c10::SmallVector<Handle, 4> writes;
  c10::SmallVector<Handle, 2> side_effects;
  c10::SmallVector<BlockRecord*, 8> records;  // each once
  Bytes bytes = 0;                            // they take in the arena

 private:
  Steward& steward_;
  std::int64_t number_;
  bool on_device_ = false;        // is any argument there, ours or not?
  bool asks_for_device_ = false;  // is it named by an argument?
  bool has_tensors_ = false;
};

class Call {
 public:
  Call(const c10::OperatorHandle& op, const OpProfile& profile, c10::DispatchKeySet below)
      : op_(op), profile_(profile), below_(below) {}

  const c10::OperatorHandle& op() const { return op_; }
  const OpProfile& profile() const { return profile_; }
  c10::DispatchKeySet below() const { return below_; }

  // Of its arguments.
  virtual Operands operands(Steward& steward) const = 0;
  // The generator among them.
  virtual std::optional<at::Generator> generator() const { return std::nullopt; }
  // It may have to run more than once.
  virtual void keep_arguments() {}
  virtual void restore_arguments() {}
  // false: one of its arguments cannot be remembered.
  [[nodiscard]] virtual bool remember(CallRecipe& recipe) const = 0;
  // Has it done below us. Then its results are there.
  virtual void run() = 0;
  virtual void for_each_result(c10::function_ref<void(const at::Tensor&)> f) const = 0;

 protected:
  ~Call() = default;

 private:
  const c10::OperatorHandle& op_;
  const OpProfile& profile_;
  c10::DispatchKeySet below_;
};

// Any op: leaves its results on the stack in place of the arguments.
class BoxedCall final : public Call {
 public:
  // REQUIRES: the arguments are on top of the stack; all outlives this.
  BoxedCall(const c10::OperatorHandle& op, const OpProfile& profile, c10::DispatchKeySet below,
            torch::jit::Stack& stack)
      : Call(op, profile, below), stack_(stack), base_(stack.size() - profile.arguments.size()) {}

  Operands operands(Steward& steward) const override;
  std::optional<at::Generator> generator() const override;
  void keep_arguments() override { kept_.assign(arguments().begin(), arguments().end()); }
  void restore_arguments() override;
  bool remember(CallRecipe& recipe) const override { return recipe.add(arguments()); }
  void run() override { op().redispatchBoxed(below(), &stack_); }
  void for_each_result(c10::function_ref<void(const at::Tensor&)> f) const override;
  // REQUIRES: it has run.
  c10::ArrayRef<c10::IValue> results() const { return torch::jit::last(stack_, profile().results); }

 private:
  c10::ArrayRef<c10::IValue> arguments() const {
    return torch::jit::last(stack_, profile().arguments.size());
  }

  torch::jit::Stack& stack_;
  std::size_t base_;  // of the stack, without the arguments
  c10::SmallVector<c10::IValue, 12> kept_;
};

}  // namespace ebb::torch_adapter
