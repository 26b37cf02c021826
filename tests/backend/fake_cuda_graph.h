// Graphs of the fake CUDA runtime (fake_cuda_graph.cc defines the functions of runtime and driver by which a
// captured graph is looked at and launched again).
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::fake_cuda {

struct Node {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> attributes = {};
  cudaMemsetParams fill = {};
  cudaMemcpy3DParms copy = {};
};

// `edges`: from and to, by the nodes' places in the list. `says_more`: the edges do than that one comes after
// the other.
cudaGraph_t make_graph(std::vector<Node> nodes, std::vector<std::pair<std::size_t, std::size_t>> edges,
                       bool says_more = false);
int graphs();  // that exist

// What was launched since this was asked last, in words.
std::vector<std::string> launched();
// The nth launch from now on (from 0) is not taken.
void refuse_launch(int nth);

// All memory of the device that a graph may name.
inline std::byte device_memory[64] = {};

}  // namespace ebb::fake_cuda
