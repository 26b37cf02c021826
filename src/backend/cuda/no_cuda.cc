// Stands in for cuda_backend.cc where there is no CUDA toolkit.
#include "backend/cuda/cuda_backend.h"

namespace ebb {

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions&) {
  throw BackendError("built without CUDA: configure with -DEBB_CUDA=ON where the CUDA toolkit is installed");
}

}  // namespace ebb
