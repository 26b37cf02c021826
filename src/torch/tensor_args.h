// The tensors among the arguments or results of an op, wherever they hide: alone, optional, in lists, in
// lists of lists.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace ebb::torch_adapter {

// Calls f(const at::Tensor&) for every defined tensor.
template <typename F>
void for_each_tensor(const c10::IValue& value, F&& f) {
  if (value.isTensor()) {
    if (const at::Tensor& tensor = value.toTensor(); tensor.defined()) f(tensor);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, f);
  }
}

// Does the tensor cover its storage?
inline bool covers_storage(const at::Tensor& tensor) {
  return tensor.storage_offset() == 0 && tensor.is_non_overlapping_and_dense() &&
         tensor.nbytes() == tensor.storage().nbytes();
}

}  // namespace ebb::torch_adapter
