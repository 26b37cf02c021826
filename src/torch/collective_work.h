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
  explicit CollectiveWork(c10::intrusive_ptr<torch::CustomClassHolder> work)
      : work_(std::move(work)), watched_(work_) {}
  // Those among the results of an op; none if there was nothing left to do when it returned.
  static std::vector<CollectiveWork> among(c10::ArrayRef<c10::IValue> results);

  // From now on it, and the tensors it keeps, live as long as others want, and with the last of them it is
  // over. For the CPU only, where threads that use a tensor keep its Work.
  void only_watch() { work_.reset(); }
  // Is it done with its tensors? A send or receive over Gloo that nobody waits for never says so.
  bool is_over() const;
  // What the current stream does from now on comes after what the work still has enqueued.
  // REQUIRES: it is over.
  void synchronize() const;

 private:
  c10::intrusive_ptr<torch::CustomClassHolder> work_;
  c10::weak_intrusive_ptr<torch::CustomClassHolder> watched_;
};

}  // namespace ebb::torch_adapter
