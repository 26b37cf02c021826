// All that differs between the versions of PyTorch that the adapter is written for: 1.13 and 2.0 to 2.12
// (docs/notes/pytorch-adapter.md).
#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/core/Storage.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/api/include/torch/version.h>

#define EBB_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

#if EBB_TORCH_AT_LEAST(2, 13)
#error "Ebb listens on the dispatch key Fake, which PyTorch claims for itself from version 2.13 on"
#elif !EBB_TORCH_AT_LEAST(1, 13)
#error "Ebb needs PyTorch 1.13 or later"
#endif

// Allocator::allocate is const up to 2.2, and copying is the allocator's business from 2.3 on.
#if EBB_TORCH_AT_LEAST(2, 3)
#define EBB_ALLOCATE_CONST
#else
#define EBB_ALLOCATE_CONST const
#endif

// Where torch was built without torch.distributed, its headers are not there.
#define EBB_TORCH_DISTRIBUTED __has_include(<torch/csrc/distributed/c10d/ProcessGroup.hpp>)

namespace ebb::torch_adapter {

// Below autograd, above the backends; nothing else is registered there.
inline constexpr c10::DispatchKey kKey = c10::DispatchKey::Fake;

inline const c10::DataPtr& data_ptr_of(const c10::StorageImpl& storage) { return storage.data_ptr(); }

// Lends the memory's owner to nobody: the old DataPtr is forgotten, not deleted.
inline void replace_data_ptr(c10::StorageImpl& storage, c10::DataPtr&& with) {
  c10::DataPtr old = storage.set_data_ptr(std::move(with));
  old.release_context();
}

}  // namespace ebb::torch_adapter
