#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"

namespace ebb {
namespace {

// True of the stub, and of a build with CUDA on a machine without a GPU.
TEST(CudaBackend, EitherWorksOrSaysWhyNot) {
  try {
    EXPECT_NE(make_cuda_backend(), nullptr);
  } catch (const BackendError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.find("built without CUDA") != std::string::npos || text.find("cuda") == 0) << text;
  }
}

}  // namespace
}  // namespace ebb
