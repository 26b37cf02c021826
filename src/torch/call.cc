#include "torch/call.h"

#include <algorithm>

#include "runtime/arena.h"
#include "torch/tensor_args.h"

namespace ebb::torch_adapter {

void Operands::add(const at::Tensor& tensor, const ArgumentUse& use, bool trains) {
  has_tensors_ = true;
  BlockRecord* record = steward_.record_of(tensor.unsafeGetTensorImpl()->unsafe_storage());
  on_device_ |= record || tensor.device() == steward_.place();
  if (!record) return;
  if (record->seen_in != number_) {
    record->seen_in = number_;
    records.push_back(record);
    bytes += Arena::rounded(static_cast<Bytes>(record->bytes));
  }
  if (use.side_effect && trains) {
    side_effects.push_back(record->handle);
    return;
  }
  if (use.writes) writes.push_back(record->handle);
  if (use.reads || !covers_storage(tensor)) reads.push_back(record->handle);
}

bool Operands::side_effects_are_nothing_else() const {
  const auto is_in = [](const auto& handles, Handle handle) {
    return std::find(handles.begin(), handles.end(), handle) != handles.end();
  };
  return std::none_of(side_effects.begin(), side_effects.end(),
                      [&](Handle handle) { return is_in(reads, handle) || is_in(writes, handle); });
}

Operands BoxedCall::operands(Steward& steward) const {
  Operands operands(steward);
  const c10::ArrayRef<c10::IValue> values = arguments();
  const bool trains = profile().trains(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ArgumentUse& use = profile().arguments[i];
    if (use.holds == Holds::plain) continue;
    if (use.holds == Holds::device && values[i].isDevice()) operands.add(values[i].toDevice());
    for_each_tensor(values[i], [&](const at::Tensor& tensor) { operands.add(tensor, use, trains); });
  }
  return operands;
}

std::optional<at::Generator> BoxedCall::generator() const {
  for (const c10::IValue& argument : arguments())
    if (argument.isGenerator()) return argument.toGenerator();
  return std::nullopt;
}

void BoxedCall::restore_arguments() {
  stack_.resize(base_);
  stack_.insert(stack_.end(), kept_.begin(), kept_.end());
}

void BoxedCall::for_each_result(c10::function_ref<void(const at::Tensor&)> f) const {
  for (const c10::IValue& result : results()) for_each_tensor(result, f);
}

}  // namespace ebb::torch_adapter
