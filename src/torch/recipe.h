// An op as it can be run again: operator, arguments, the shapes of its tensors, where its generator stood.
// Tensors are remembered by block and form, or by value if they are small and not ours; nothing keeps a
// storage of the program alive.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <optional>
#include <vector>

#include "torch/captured_replay.h"
#include "torch/steward.h"

namespace ebb::torch_adapter {

class CallRecipe {
 public:
  // Of no arguments yet. `below`: the keys the op is dispatched with.
  CallRecipe(Steward& steward, const c10::OperatorHandle& op, c10::DispatchKeySet below)
      : steward_(steward), op_(op), below_(below) {}
  // The same for another op; keeps the memory it has.
  void begin(const c10::OperatorHandle& op, c10::DispatchKeySet below);
  void clear();

  // Where the arguments allow it. REQUIRES: they are optional, and nothing else to the op.
  void leave_side_effects_out() { leaves_side_effects_out_ = true; }
  // false: one cannot be remembered.
  [[nodiscard]] bool add(c10::ArrayRef<c10::IValue> arguments);
  // Will it have those that it has now, when it runs again?
  bool has_side_effects() const { return !leaves_side_effects_out_; }
  void set_generator(std::shared_ptr<const GeneratorState> state, std::optional<at::Generator> generator) {
    generator_state_ = std::move(state);
    generator_ = std::move(generator);
  }
  // For every tensor of the results, the block that was born for it; 0: none was.
  void set_results(c10::ArrayRef<Handle> births) { results_.assign(births.begin(), births.end()); }
  // Runs the op on the blocks of the context. What it makes belongs to the runtime afterwards.
  void replay(ExecContext& context) const;

 private:
  // Forms and arguments own nothing: to forget them touches no memory.
  struct TensorForm {
    Handle block = 0;  // 0: by value
    std::size_t storage_bytes = 0;
    c10::DispatchKeySet keys = {};
    std::int64_t offset = 0;
    std::uint32_t at = 0;    // its value in values_, or its sizes and strides in shapes_
    std::uint32_t dims = 0;  // of each
    caffe2::TypeMeta type = {};
    bool wrapped_number = false;
  };
  // An argument: a tensor, a list of tensors, or anything else as it is.
  struct Argument {
    enum class Kind : char { plain, tensor, tensor_list, optional_tensor_list };
    Kind kind = Kind::plain;
    // Its tensors are tensors_[first … last - 1]; it is plain_[first].
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  // Where the blocks of the forms lie; null for those by value.
  using Places = c10::SmallVector<std::byte*, 8>;
  using Tensors = c10::SmallVector<at::Tensor, 8>;

  bool add_without_side_effects(c10::ArrayRef<c10::IValue> arguments);
  bool add_argument(const c10::IValue& value);
  bool add_tensor(const at::Tensor& tensor);
  void add_block(const BlockRecord& record, const at::Tensor& tensor);
  void add_value(at::Tensor value);
  Places places_in(ExecContext& context) const;
  Tensors make_tensors(const Places& places) const;
  torch::jit::Stack make_stack(const Places& places) const;
  // `script`, if given, is told what the op asks memory for; `scripted`, if given, has memory for it.
  void run(ExecContext& context, const Places& places, MemoryScript* script,
           ScriptedMemory* scripted = nullptr) const;
  void check_results(ExecContext& context, const torch::jit::Stack& stack) const;
  [[noreturn]] void refuse_results() const;

  // Its twin in the book of what was captured, if it may have one.
  CapturedReplay* known(const Places& places) const;
  bool write_key(RepeatKey& key, const Places& places) const;
  void run_and_learn(CapturedReplay& replay, ExecContext& context, const Places& places) const;
  void run_again(CapturedReplay& replay, ExecContext& context, const Places& places) const;
  // Do the results get the mallocs that they got when it was captured?
  bool has_results_of(const CapturedReplay& replay, const MemoryScript& memory) const;
  // What is captured: the op on this memory and no other.
  void run_on(const MemoryScript& memory, const Places& places) const;

  Steward& steward_;
  c10::OperatorHandle op_;
  c10::DispatchKeySet below_;
  bool leaves_side_effects_out_ = false;
  std::shared_ptr<const GeneratorState> generator_state_;
  std::optional<at::Generator> generator_;
  std::vector<at::Tensor> values_;  // copies that are nobody else's
  // What most ops have lies in one piece: a recipe is written, and often forgotten, when no cache has it.
  c10::SmallVector<Handle, 4> results_;
  c10::SmallVector<int, 8> tensors_;  // indices of forms; -1: undefined or none
  c10::SmallVector<Argument, 10> arguments_;
  c10::SmallVector<c10::IValue, 6> plain_;
  c10::SmallVector<TensorForm, 5> forms_;
  c10::SmallVector<std::int64_t, 20> shapes_;
};

// Ops are remembered often and run again seldom: recipes are used again, with the memory they have.
class RecipePool {
 public:
  // REQUIRES: the pool outlives what it gives, which is let go under the steward's lock.
  std::shared_ptr<CallRecipe> take(Steward& steward, const c10::OperatorHandle& op,
                                   c10::DispatchKeySet below);

 private:
  void give_back(std::unique_ptr<CallRecipe> recipe);

  std::vector<std::unique_ptr<CallRecipe>> spare_;
};

}  // namespace ebb::torch_adapter
