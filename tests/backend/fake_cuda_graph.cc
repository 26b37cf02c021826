#include "backend/fake_cuda_graph.h"

#include <cstring>
#include <deque>

#include "backend/fake_cuda_runtime.h"

struct CUgraphNode_st {
  ebb::fake_cuda::Node node;
};
struct CUgraph_st {
  std::deque<CUgraphNode_st> nodes;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  bool says_more = false;
};

namespace ebb::fake_cuda {
namespace {

struct State {
  int graphs = 0;
  int until_refusal = -1;
  std::vector<std::string> launched;
};
State& state() {
  static State the_state;
  return the_state;
}

bool takes(const std::string& launch) {
  if (state().until_refusal == 0) {
    state().until_refusal = -1;
    return false;
  }
  if (state().until_refusal > 0) --state().until_refusal;
  state().launched.push_back(launch);
  return true;
}

bool is_device_memory(const void* memory) {
  const auto* byte = static_cast<const std::byte*>(memory);
  return byte >= device_memory && byte < device_memory + sizeof device_memory;
}

std::string number(auto value) { return std::to_string(value); }

std::string on(cudaStream_t stream) {
  return stream ? " on " + number(reinterpret_cast<std::uintptr_t>(stream)) : "";
}

CUresult kernel_parameters(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  *parameters = node->node.kernel;
  return CUDA_SUCCESS;
}

CUresult kernel_attribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue* value) {
  const auto found = node->node.attributes.find(id);
  *value = found == node->node.attributes.end() ? CUlaunchAttributeValue{} : found->second;
  return CUDA_SUCCESS;
}

// "kernel 7: 1 x 2 x 3 blocks of 4 x 5 x 6, 7 shared, (11, 12), cooperative"
CUresult launch_kernel(const CUlaunchConfig* of, CUfunction function, void** parameters, void** extra) {
  std::string words = "kernel " + number(reinterpret_cast<std::uintptr_t>(function)) + ": " +
                      number(of->gridDimX) + " x " + number(of->gridDimY) + " x " + number(of->gridDimZ) +
                      " blocks of " + number(of->blockDimX) + " x " + number(of->blockDimY) + " x " +
                      number(of->blockDimZ) + ", " + number(of->sharedMemBytes) + " shared";
  for (void** argument = parameters; argument && *argument; ++argument)
    words += ", " + number(*static_cast<int*>(*argument));
  for (unsigned i = 0; i < of->numAttrs; ++i) {
    if (of->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) words += ", cooperative";
    if (of->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      words += ", clusters of " + number(of->attrs[i].value.clusterDim.x);
    if (of->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
      words +=
          ", spread as " + number(static_cast<int>(of->attrs[i].value.clusterSchedulingPolicyPreference));
  }
  if (extra) words += ", more";
  return takes(words + on(of->hStream)) ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace

cudaGraph_t make_graph(std::vector<Node> nodes, std::vector<std::pair<std::size_t, std::size_t>> edges,
                       bool says_more) {
  ++state().graphs;
  auto* graph = new CUgraph_st;
  for (Node& node : nodes) graph->nodes.push_back({std::move(node)});
  graph->edges = std::move(edges);
  graph->says_more = says_more;
  return graph;
}

int graphs() { return state().graphs; }
std::vector<std::string> launched() { return std::exchange(state().launched, {}); }
void refuse_launch(int nth) { state().until_refusal = nth; }

}  // namespace ebb::fake_cuda

using namespace ebb::fake_cuda;

extern "C" {

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  --state().graphs;
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  for (std::size_t i = 0; nodes && i < *count; ++i) nodes[i] = &graph->nodes[i];
  *count = graph->nodes.size();
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* /*data*/, std::size_t* count) {
#else
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              std::size_t* count) {
#endif
  if (graph->says_more) return fail(cudaErrorLossyQuery);
  for (std::size_t i = 0; from && i < *count; ++i) {
    from[i] = &graph->nodes[graph->edges[i].first];
    to[i] = &graph->nodes[graph->edges[i].second];
  }
  *count = graph->edges.size();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->node.type;
  return cudaSuccess;
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* fill) {
  *fill = node->node.fill;
  return cudaSuccess;
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* copy) {
  *copy = node->node.copy;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  *attributes = {};
  attributes->type = is_device_memory(memory) ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* /*to*/, int value, std::size_t bytes, cudaStream_t stream) {
  const std::string words = "fill " + number(bytes) + " with " + number(value);
  return takes(words + on(stream)) ? cudaSuccess : fail(cudaErrorLaunchFailure);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  const std::string words = "copy " + number(copy->extent.height) + " rows of " + number(copy->extent.width);
  return takes(words + on(stream)) ? cudaSuccess : fail(cudaErrorLaunchFailure);
}
#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned /*version*/,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
#else
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long /*flags*/,
                                    cudaDriverEntryPointQueryResult* result) {
#endif
  const std::string asked = name;
  if (asked == "cuGraphKernelNodeGetParams") *function = reinterpret_cast<void*>(&kernel_parameters);
  if (asked == "cuGraphKernelNodeGetAttribute") *function = reinterpret_cast<void*>(&kernel_attribute);
  if (asked == "cuLaunchKernelEx") *function = reinterpret_cast<void*>(&launch_kernel);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // extern "C"
