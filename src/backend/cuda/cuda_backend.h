// An NVIDIA GPU: one cudaMalloc, two copy streams of our own, pinned slabs, and CUDA events that are used
// again once they are known to have happened. Nothing but `synchronize` and the destructor blocks the host,
// given host memory from `host_slab`.
//
// This header knows no CUDA. Built without it, make_cuda_backend throws BackendError "built without CUDA".
#pragma once

#include <memory>

#include "backend/backend.h"

namespace ebb {

struct CudaOptions {
  int device = 0;
  // The cudaStream_t that the program computes on; null is the legacy default stream of the device.
  // REQUIRES: it outlives the backend; if null, the device is current in every thread that calls the backend.
  void* compute_stream = nullptr;
};

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options = {});

}  // namespace ebb
