// Controls of a fake CUDA runtime (fake_cuda_runtime.cc defines the functions of cuda_runtime_api.h that the
// CUDA backend calls). Its GPU is a HostBackend: the null stream computes on the calling thread, the first
// stream that is created is the out engine and the second the in engine. One backend at a time.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/host/link.h"

namespace ebb::fake_cuda {

// Of the GPUs from here on.
void set_link(const LinkOptions& link);
// The thread's last error is that.
cudaError_t fail(cudaError_t error);
// The next call of the function fails.
void fail_next(const char* function, cudaError_t error);

struct Counts {
  int events = 0;    // that exist
  int waits = 0;     // calls of cudaStreamWaitEvent
  int queries = 0;   // calls of cudaEventQuery
  int slabs = 0;     // pinned and not freed
  int streams = 0;   // that exist
  int reserved = 0;  // device allocations not freed
};
Counts counts();

}  // namespace ebb::fake_cuda
