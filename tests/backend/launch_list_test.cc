// What was captured, launched again on a fake of CUDA.
#include "backend/cuda/launch_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "backend/backend.h"
#include "backend/fake_cuda_graph.h"

namespace ebb {
namespace {

using fake_cuda::launched;
using fake_cuda::make_graph;
using fake_cuda::Node;

Node kernel(std::uintptr_t function, void** arguments = nullptr) {
  Node node{.type = cudaGraphNodeTypeKernel};
  node.kernel.func = reinterpret_cast<CUfunction>(function);
  node.kernel.gridDimX = 1, node.kernel.gridDimY = 2, node.kernel.gridDimZ = 3;
  node.kernel.blockDimX = 4, node.kernel.blockDimY = 5, node.kernel.blockDimZ = 6;
  node.kernel.sharedMemBytes = 7;
  node.kernel.kernelParams = arguments;
  return node;
}

std::string launch_of(int function, const std::string& more = "") {
  return "kernel " + std::to_string(function) + ": 1 x 2 x 3 blocks of 4 x 5 x 6, 7 shared" + more;
}

Node fill(unsigned value, unsigned element, std::size_t width, std::size_t height = 1) {
  Node node{.type = cudaGraphNodeTypeMemset};
  node.fill.value = value, node.fill.elementSize = element, node.fill.width = width;
  node.fill.height = height;
  return node;
}

Node copy(cudaMemcpyKind kind, void* from, std::size_t rows = 1) {
  Node node{.type = cudaGraphNodeTypeMemcpy};
  node.copy.kind = kind;
  node.copy.srcPtr.ptr = from;
  node.copy.dstPtr.ptr = fake_cuda::device_memory;
  node.copy.extent = {.width = 16, .height = rows, .depth = 1};
  return node;
}

class LaunchListTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(fake_cuda::graphs(), 0);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "an error was left for the program to find";
  }
  std::byte host_memory[32] = {};
};

TEST_F(LaunchListTest, AChainIsLaunchedInItsOrder) {
  // As listed: 30, fill, 10, copy, nothing. As captured: 10, fill, nothing, copy, 30.
  const Node rows = copy(cudaMemcpyDefault, fake_cuda::device_memory + 32, 2);
  const auto list = LaunchList::of(
      make_graph({kernel(30), fill(0, 4, 8), kernel(10), rows, Node{}}, {{4, 3}, {2, 1}, {3, 0}, {1, 4}}));
  ASSERT_TRUE(list);
  const std::vector<std::string> expected = {launch_of(10, " on 77"), "fill 32 with 0 on 77",
                                             "copy 2 rows of 16 on 77", launch_of(30, " on 77")};
  for (int time = 0; time < 2; ++time) {
    EXPECT_TRUE(list->launch(reinterpret_cast<cudaStream_t>(std::uintptr_t{77})));
    EXPECT_EQ(launched(), expected);
  }
}

TEST_F(LaunchListTest, WhatLiesInOnePieceIsCopiedAsSuch) {
  for (const cudaMemcpyKind kind : {cudaMemcpyDefault, cudaMemcpyDeviceToDevice}) {
    const auto list = LaunchList::of(make_graph({copy(kind, fake_cuda::device_memory + 32)}, {}));
    ASSERT_TRUE(list);
    std::fill(std::begin(fake_cuda::device_memory), std::end(fake_cuda::device_memory), std::byte{1});
    std::fill_n(fake_cuda::device_memory + 32, 32, std::byte{2});
    EXPECT_TRUE(list->launch(nullptr));
    EXPECT_EQ(std::count(fake_cuda::device_memory, fake_cuda::device_memory + 32, std::byte{2}), 16);
    EXPECT_EQ(fake_cuda::device_memory[15], std::byte{2});
  }
}

TEST_F(LaunchListTest, AKernelKeepsItsArgumentsAndHowItIsLaunched) {
  int first = 11, second = 12;
  void* arguments[] = {&first, &second, nullptr};
  Node node = kernel(9, arguments);
  node.attributes[CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative = 1;
  node.attributes[CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION].clusterDim = {2, 1, 1};
  node.attributes[CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE]
      .clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
  node.kernel.extra = arguments;
  const auto list = LaunchList::of(make_graph({node}, {}));
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->launch(nullptr));
  EXPECT_EQ(launched(), std::vector{launch_of(9, ", 11, 12, cooperative, clusters of 2, spread as 1, more")});
}

TEST_F(LaunchListTest, AKernelOfALibraryIsAFunctionToo) {
  Node node = kernel(0);
  node.kernel.kern = reinterpret_cast<CUkernel>(std::uintptr_t{5});
  const auto list = LaunchList::of(make_graph({node}, {}));
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->launch(nullptr));
  EXPECT_EQ(launched(), std::vector{launch_of(5)});
}

TEST_F(LaunchListTest, WhatIsNoChainIsRefused) {
  EXPECT_FALSE(LaunchList::of(make_graph({}, {}))) << "nothing";
  EXPECT_FALSE(LaunchList::of(make_graph({Node{}}, {}))) << "nothing to be launched";
  EXPECT_FALSE(LaunchList::of(make_graph({kernel(1), kernel(2)}, {}))) << "side by side";
  EXPECT_FALSE(LaunchList::of(make_graph({kernel(1), kernel(2), kernel(3)}, {{0, 1}, {0, 2}}))) << "a fork";
  EXPECT_FALSE(LaunchList::of(make_graph({kernel(1), kernel(2), kernel(3)}, {{0, 2}, {1, 2}}))) << "a join";
  EXPECT_FALSE(LaunchList::of(make_graph({kernel(1), kernel(2)}, {{0, 1}}, true))) << "a programmatic launch";
}

TEST_F(LaunchListTest, WorkThatIsNotTheDevicesAloneIsRefused) {
  const Node refused[] = {{.type = cudaGraphNodeTypeHost},
                          copy(cudaMemcpyHostToDevice, host_memory),
                          copy(cudaMemcpyDefault, host_memory),
                          fill(1, 4, 8),
                          fill(0, 1, 8, 2)};
  for (const Node& node : refused) EXPECT_FALSE(LaunchList::of(make_graph({kernel(1), node}, {{0, 1}})));
  for (const Node& node : {copy(cudaMemcpyDeviceToDevice, fake_cuda::device_memory), fill(3, 1, 8)})
    EXPECT_TRUE(LaunchList::of(make_graph({kernel(1), node}, {{0, 1}})));
}

TEST_F(LaunchListTest, WhatTheDeviceDoesNotTakeIsNotDoneOrAnError) {
  const auto list = LaunchList::of(make_graph({kernel(1), kernel(2)}, {{0, 1}}));
  ASSERT_TRUE(list);
  fake_cuda::refuse_launch(0);
  EXPECT_FALSE(list->launch(nullptr));
  EXPECT_TRUE(launched().empty());
  const auto filled = LaunchList::of(make_graph({fill(0, 1, 8)}, {}));
  ASSERT_TRUE(filled);
  fake_cuda::refuse_launch(0);
  EXPECT_FALSE(filled->launch(nullptr)) << "and the error is not left for others";
  fake_cuda::refuse_launch(1);
  EXPECT_THROW(static_cast<void>(list->launch(nullptr)), BackendError);
  EXPECT_EQ(launched(), std::vector{launch_of(1)});
}

}  // namespace
}  // namespace ebb
