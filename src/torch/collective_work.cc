#include "torch/collective_work.h"

#include "torch/torch_version.h"

#if EBB_TORCH_DISTRIBUTED
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

namespace ebb::torch_adapter {

#if EBB_TORCH_DISTRIBUTED

std::vector<CollectiveWork> CollectiveWork::among(c10::ArrayRef<c10::IValue> results) {
  std::vector<CollectiveWork> works;
  for (const c10::IValue& result : results) {
    if (!result.isCustomClass()) continue;
    if (c10::intrusive_ptr<c10d::Work> work = result.toCustomClass<c10d::Work>())
      works.push_back(CollectiveWork(std::move(work)));
  }
  return works;
}

bool CollectiveWork::is_over() const {
  if (watched_._unsafe_get_target() == nullptr) return false;
  const c10::intrusive_ptr<torch::CustomClassHolder> work = watched_.lock();
  return !work || static_cast<c10d::Work&>(*work).isCompleted();
}

void CollectiveWork::synchronize() const {
  try {
    if (work_) static_cast<c10d::Work&>(*work_).synchronize();
  } catch (const std::exception&) {
    // It failed, which the program hears from its own wait.
  }
}

#else

std::vector<CollectiveWork> CollectiveWork::among(c10::ArrayRef<c10::IValue>) { return {}; }
bool CollectiveWork::is_over() const { return true; }
void CollectiveWork::synchronize() const {}

#endif

}  // namespace ebb::torch_adapter
