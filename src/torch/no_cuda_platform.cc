// Stands in for cuda_platform.cc where PyTorch was built without CUDA.
#include "torch/platform.h"

namespace ebb::torch_adapter {

std::unique_ptr<Platform> make_cuda_platform(int) {
  throw BackendError("this Ebb was built for a PyTorch without CUDA: there is only the device \"cpu\"");
}

}  // namespace ebb::torch_adapter
