// torch's CUDA allocator with everything handed on to another one. The interface changes with almost every
// version of PyTorch, so functions that only pass on take their signature from the version at hand, and those
// that it does not have are left out.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <type_traits>
#include <utility>

#include "torch/torch_version.h"

#if !EBB_TORCH_AT_LEAST(2, 3)
#error "Ebb manages CUDA memory for PyTorch 2.3 and later"
#endif

namespace ebb::torch_adapter {

using NativeAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;
using caching_stats = decltype(std::declval<NativeAllocator&>().getDeviceStats(0));

class ForwardingRoot : public NativeAllocator {
 public:
  explicit ForwardingRoot(NativeAllocator& native) : native_(native) {}
  NativeAllocator& native() const { return native_; }

 protected:
  virtual void refuse_pools() const = 0;

 private:
  NativeAllocator& native_;
};

// Overrides one function of Base, whatever its signature: calls `before`, then the native one.
#define EBB_FORWARD_AFTER(function, before)                                              \
  template <typename Base, typename Pointer>                                             \
  struct Forward_##function;                                                             \
  template <typename Base, typename R, typename C, typename... A>                        \
  struct Forward_##function<Base, R (C::*)(A...)> : Base {                               \
    using Base::Base;                                                                    \
    R function(A... arguments) override {                                                \
      before;                                                                            \
      return this->native().function(std::forward<A>(arguments)...);                     \
    }                                                                                    \
  };                                                                                     \
  template <typename Base, typename R, typename C, typename... A>                        \
  struct Forward_##function<Base, R (C::*)(A...) const> : Base {                         \
    using Base::Base;                                                                    \
    R function(A... arguments) const override {                                          \
      before;                                                                            \
      return this->native().function(std::forward<A>(arguments)...);                     \
    }                                                                                    \
  };                                                                                     \
  template <typename Base, typename Owner>                                               \
  auto choose_##function() {                                                             \
    if constexpr (requires { &Owner::function; })                                        \
      return std::type_identity<Forward_##function<Base, decltype(&Owner::function)>>{}; \
    else                                                                                 \
      return std::type_identity<Base>{};                                                 \
  }                                                                                      \
  template <typename Base>                                                               \
  using With_##function = typename decltype(choose_##function<Base, NativeAllocator>())::type
#define EBB_FORWARD(function) EBB_FORWARD_AFTER(function, )

EBB_FORWARD(init);
EBB_FORWARD(initialized);
EBB_FORWARD(getMemoryFraction);
EBB_FORWARD(setMemoryFraction);
EBB_FORWARD(getExpandableSegmentSizes);
EBB_FORWARD(enable);
EBB_FORWARD(isEnabled);
EBB_FORWARD(emptyCache);
EBB_FORWARD(getBaseAllocation);
EBB_FORWARD(resetAccumulatedStats);
EBB_FORWARD(snapshot);
EBB_FORWARD_AFTER(beginAllocateToPool, this->refuse_pools());
EBB_FORWARD(endAllocateToPool);
EBB_FORWARD(releasePool);
EBB_FORWARD(getPoolUseCount);
EBB_FORWARD_AFTER(createOrIncrefPool, this->refuse_pools());
EBB_FORWARD(ensureExistsAndIncrefPool);
EBB_FORWARD(setUseOnOOM);
EBB_FORWARD(setNoSplit);
EBB_FORWARD(checkPoolLiveAllocations);
EBB_FORWARD(shareIpcHandle);
EBB_FORWARD(getIpcDevPtr);
EBB_FORWARD(isHistoryEnabled);
EBB_FORWARD(recordHistory);
EBB_FORWARD(recordAnnotation);
EBB_FORWARD(pushCompileContext);
EBB_FORWARD(popCompileContext);
EBB_FORWARD(setUserMetadata);
EBB_FORWARD(getUserMetadata);
EBB_FORWARD(attachOutOfMemoryObserver);
EBB_FORWARD(attachAllocatorTraceTracker);
EBB_FORWARD(enablePeerAccess);
EBB_FORWARD(memcpyAsync);
EBB_FORWARD(getCheckpointState);
EBB_FORWARD(setCheckpointPoolState);
EBB_FORWARD(name);

// clang-format off
using ForwardingAllocator =
    With_init<With_initialized<With_getMemoryFraction<With_setMemoryFraction<With_getExpandableSegmentSizes<
    With_enable<With_isEnabled<With_emptyCache<With_getBaseAllocation<With_resetAccumulatedStats<With_snapshot<
    With_beginAllocateToPool<With_endAllocateToPool<With_releasePool<With_getPoolUseCount<
    With_createOrIncrefPool<With_ensureExistsAndIncrefPool<With_setUseOnOOM<With_setNoSplit<
    With_checkPoolLiveAllocations<With_shareIpcHandle<With_getIpcDevPtr<With_isHistoryEnabled<
    With_recordHistory<With_recordAnnotation<With_pushCompileContext<With_popCompileContext<
    With_setUserMetadata<With_getUserMetadata<With_attachOutOfMemoryObserver<With_attachAllocatorTraceTracker<
    With_enablePeerAccess<With_memcpyAsync<With_getCheckpointState<With_setCheckpointPoolState<
    With_name<ForwardingRoot>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>;
// clang-format on

#undef EBB_FORWARD
#undef EBB_FORWARD_AFTER

}  // namespace ebb::torch_adapter
