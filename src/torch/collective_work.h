// What a collective returns: the promise that it will be done with its tensors. Hides the headers of
// torch.distributed, and is empty where torch was built without it.
#pragma once

#include <ATen/core/custom_class.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace ebb::torch_adapter {

class CollectiveWork {
 public:
  // REQUIRES: a c10d::Work. Null: it is never over.
  explicit CollectiveWork(c10::intrusive_ptr<torch::CustomClassHolder> work) : work_(std::move(work)) {}
  // Those among the results of an op; none if there was nothing left to do when it returned.
  static std::vector<CollectiveWork> among(c10::ArrayRef<c10::IValue> results);

  // Is it done with its tensors? A send or receive that Gloo was given and that the program has dropped
  // without a wait never says so: on the CPU the last owner's word counts.
  bool is_over(bool on_cpu) const;
  // What the current stream does from now on comes after what the work still has enqueued.
  // REQUIRES: it is over.
  void synchronize() const;

 private:
  c10::intrusive_ptr<torch::CustomClassHolder> work_;
};

}  // namespace ebb::torch_adapter
