#include "backend/cuda/checked.h"

#include <string>

namespace ebb {

void throw_cuda_error(cudaError_t error, const char* call, Bytes bytes) {
  forget_error();
  std::string text = call;
  if (bytes != kNoSize) text += " of " + std::to_string(bytes) + " bytes";
  text += std::string(": ") + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  std::size_t free = 0;
  std::size_t total = 0;
  if (error == cudaErrorMemoryAllocation && cudaMemGetInfo(&free, &total) == cudaSuccess)
    text += "; " + std::to_string(free) + " of " + std::to_string(total) + " bytes of device memory are free";
  throw BackendError(text);
}

CurrentDevice::CurrentDevice(int device) {
  checked(cudaGetDevice(&previous_), "cudaGetDevice");
  checked(cudaSetDevice(device), "cudaSetDevice");
}

CurrentDevice::~CurrentDevice() { cudaSetDevice(previous_); }

}  // namespace ebb
