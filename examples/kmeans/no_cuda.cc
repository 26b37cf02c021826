#include <stdexcept>

#include "kernels.h"

namespace kmeans {

std::unique_ptr<Kernels> make_cuda_kernels() {
  throw std::runtime_error("built without CUDA: configure with -DEBB_CUDA=ON where the CUDA toolkit is");
}

}  // namespace kmeans
