// Cuts a call over lists of tensors (_foreach_*, _fused_*) into calls over parts of them, so that no op needs
// all parameters, gradients and states at once. Where to cut depends on the bytes alone, never on the limit:
// the program has the same ops under every limit.
#pragma once

#include <ATen/core/stack.h>

#include <vector>

#include "torch/op_profile.h"

namespace ebb::torch_adapter {

inline constexpr std::size_t kPartBytes = 64u << 20;

// Where parts end. One part: the call stays whole, because it is small, because its lists do not match, or
// because torch would send it down its slow path, which parts of it might not take.
std::vector<std::size_t> cuts_of(c10::ArrayRef<c10::IValue> arguments);

class ListParts {
 public:
  // Takes the arguments off the stack.
  ListParts(torch::jit::Stack& stack, const OpProfile& profile, const std::vector<std::size_t>& cuts);

  torch::jit::Stack arguments(std::size_t part) const;
  void add_results(const torch::jit::Stack& results);
  // Puts the results of all parts on the stack, as if there had been one call.
  void finish();

 private:
  torch::jit::Stack& stack_;
  const std::vector<std::size_t>& cuts_;
  torch::jit::Stack arguments_;
  torch::jit::Stack results_;
};

}  // namespace ebb::torch_adapter
