// Ops that training programs are made of, with the arguments as they are in C++: putting them on a stack and
// taking them off again would be a good part of what Ebb costs such an op.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "torch/call.h"

namespace ebb::torch_adapter {

template <typename Op, typename Schema = typename Op::schema>
class TypedCall;

// What an argument may be beside plain values: anything else would be overlooked.
template <typename Argument>
inline constexpr bool kIsTyped =
    !std::is_same_v<Argument, c10::optional<at::Device>> && !std::is_same_v<Argument, at::Device> &&
    !std::is_same_v<Argument, c10::optional<at::Generator>> && !std::is_same_v<Argument, at::TensorList> &&
    !std::is_same_v<Argument, at::ITensorListRef> &&
    !std::is_same_v<Argument, c10::List<c10::optional<at::Tensor>>>;

// Op: one of at::_ops, whose arguments and results have tensors alone or optional, not in lists, and which
// names no device and no generator.
template <typename Op, typename Result, typename... Arguments>
class TypedCall<Op, Result(Arguments...)> final : public Call {
  static_assert((kIsTyped<std::remove_cvref_t<Arguments>> && ...));

 public:
  static const c10::OperatorHandle& handle() {
    static const c10::OperatorHandle op =
        c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name);
    return op;
  }

  TypedCall(const OpProfile& profile, c10::DispatchKeySet below, Arguments... arguments)
      : Call(handle(), profile, below), arguments_(std::forward<Arguments>(arguments)...) {}

  Operands operands(Steward& steward) const override {
    Operands operands(steward);
    add_operands(operands, trains(), std::index_sequence_for<Arguments...>());
    return operands;
  }
  bool remember(CallRecipe& recipe) const override {
    torch::jit::Stack stack;
    stack.reserve(sizeof...(Arguments));
    std::apply([&](const auto&... arguments) { torch::jit::push(stack, arguments...); }, arguments_);
    return recipe.add(stack);
  }
  void run() override {
    std::apply(
        [&](auto&... arguments) {
          if constexpr (std::is_reference_v<Result>)
            result_ = &Op::redispatch(below(), arguments...);
          else
            result_.emplace(Op::redispatch(below(), arguments...));
        },
        arguments_);
  }
  void for_each_result(c10::function_ref<void(const at::Tensor&)> f) const override { visit(*result_, f); }

  Result take_result() {
    if constexpr (std::is_reference_v<Result>)
      return *result_;
    else
      return std::move(*result_);
  }

 private:
  using Kept = std::conditional_t<std::is_reference_v<Result>, std::remove_reference_t<Result>*,
                                  std::optional<std::remove_reference_t<Result>>>;

  template <std::size_t... I>
  void add_operands(Operands& operands, bool trains, std::index_sequence<I...>) const {
    (add_operand<I>(operands, trains), ...);
  }
  template <std::size_t I>
  void add_operand(Operands& operands, bool trains) const {
    using Argument = std::remove_cvref_t<std::tuple_element_t<I, decltype(arguments_)>>;
    const auto& argument = std::get<I>(arguments_);
    if constexpr (std::is_same_v<Argument, at::Tensor>) {
      if (argument.defined()) operands.add(argument, profile().arguments[I], trains);
    } else if constexpr (std::is_same_v<Argument, c10::optional<at::Tensor>>) {
      if (argument && argument->defined()) operands.add(*argument, profile().arguments[I], trains);
    }
  }

  bool trains() const {
    bool answer = true;  // unless an argument says otherwise
    int i = 0;
    std::apply(
        [&](const auto&... arguments) {
          const auto ask = [&](const auto& argument) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(argument)>, bool>)
              if (i == profile().training_argument) answer = argument;
            ++i;
          };
          (ask(arguments), ...);
        },
        arguments_);
    return answer;
  }

  static void visit(const at::Tensor& tensor, c10::function_ref<void(const at::Tensor&)> f) {
    if (tensor.defined()) f(tensor);
  }
  template <typename... Tensors>
  static void visit(const std::tuple<Tensors...>& tensors, c10::function_ref<void(const at::Tensor&)> f) {
    std::apply([&](const auto&... tensor) { (visit(tensor, f), ...); }, tensors);
  }

  std::tuple<Arguments...> arguments_;
  Kept result_ = {};
};

}  // namespace ebb::torch_adapter
