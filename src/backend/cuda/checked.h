// The one way CUDA is called: a failure throws BackendError that names call, error and size, and does not
// linger as the thread's last error, where the program's own next check (PyTorch's, say) would take it for
// its own.
//
//   checked(cudaHostAlloc(&memory, size, flags), "cudaHostAlloc", bytes);
#pragma once

#include <cuda_runtime_api.h>

#include "backend/backend.h"

namespace ebb {

inline constexpr Bytes kNoSize = -1;

[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call, Bytes bytes);

inline void checked(cudaError_t error, const char* call, Bytes bytes = kNoSize) {
  if (error != cudaSuccess) throw_cuda_error(error, call, bytes);
}

// Of a call that may fail without being an error: nobody else should come upon it.
inline void forget_error() { static_cast<void>(cudaGetLastError()); }

// Makes a device current in this thread for a while.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

}  // namespace ebb
