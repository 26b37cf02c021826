#include "backend/cuda/launch_list.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "backend/cuda/checked.h"

namespace ebb {

#if CUDART_VERSION < 12000

std::unique_ptr<LaunchList> LaunchList::of(cudaGraph_t graph) {
  cudaGraphDestroy(graph);
  return nullptr;
}
bool LaunchList::launch(cudaStream_t) const { return false; }

#else

namespace {

constexpr unsigned kDriverVersion = 12'000;  // whose signatures are meant

// What the runtime does not tell of kernels that were launched past it, as cuDNN's are.
struct Driver {
  decltype(&cuGraphKernelNodeGetParams) kernel_parameters = nullptr;
  decltype(&cuGraphKernelNodeGetAttribute) kernel_attribute = nullptr;
  decltype(&cuLaunchKernelEx) launch = nullptr;
};

template <typename Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, kDriverVersion, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (error == cudaSuccess && result == cudaDriverEntryPointSuccess)
    function = reinterpret_cast<Function>(found);
}

// Null: this driver lacks something.
const Driver* driver() {
  static const Driver found = [] {
    Driver driver;
    find("cuGraphKernelNodeGetParams", driver.kernel_parameters);
    find("cuGraphKernelNodeGetAttribute", driver.kernel_attribute);
    find("cuLaunchKernelEx", driver.launch);
    return driver;
  }();
  return found.kernel_parameters && found.kernel_attribute && found.launch ? &found : nullptr;
}

struct Edge {
  cudaGraphNode_t from = nullptr;
  cudaGraphNode_t to = nullptr;
};

// Nothing if one of them says more than that one node comes after another.
[[nodiscard]] bool get_edges(cudaGraph_t graph, std::vector<Edge>& edges) {
  const auto get = [graph](cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, from, to, nullptr, count) == cudaSuccess;
#else
    return cudaGraphGetEdges(graph, from, to, count) == cudaSuccess;
#endif
  };
  std::size_t count = 0;
  if (!get(nullptr, nullptr, &count)) return false;
  std::vector<cudaGraphNode_t> from(count), to(count);
  if (count > 0 && !get(from.data(), to.data(), &count)) return false;
  for (std::size_t i = 0; i < count; ++i) edges.push_back({from[i], to[i]});
  return true;
}

// The nodes in their order, if each comes after the one before it and after no other. Else nothing.
std::vector<cudaGraphNode_t> chain_of(cudaGraph_t graph) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess || count == 0) return {};
  std::vector<cudaGraphNode_t> nodes(count), chain;
  std::vector<Edge> edges;
  if (cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess || !get_edges(graph, edges)) return {};
  if (edges.size() + 1 != nodes.size()) return {};
  const auto first = std::find_if(nodes.begin(), nodes.end(), [&](cudaGraphNode_t node) {
    return std::none_of(edges.begin(), edges.end(), [node](const Edge& edge) { return edge.to == node; });
  });
  if (first == nodes.end()) return {};
  for (chain.push_back(*first); chain.size() < nodes.size();) {
    const auto next =
        std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.from == chain.back(); });
    if (next == edges.end()) return {};
    chain.push_back(next->to);
    edges.erase(next);
  }
  return chain;
}

bool is_on_the_device(const void* memory) {
  cudaPointerAttributes attributes = {};
  return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice;
}

bool is_set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return value.clusterDim.x > 0;
    default:
      return value.clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
  }
}

}  // namespace

std::unique_ptr<LaunchList> LaunchList::of(cudaGraph_t graph) {
  std::unique_ptr<LaunchList> list(new LaunchList(graph));
  const std::vector<cudaGraphNode_t> chain = chain_of(graph);
  const bool known = std::all_of(chain.begin(), chain.end(), [&](auto node) { return list->add(node); });
  if (known && !list->launches_.empty()) return list;
  forget_error();
  return nullptr;
}

bool LaunchList::add(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeHost;
  if (cudaGraphNodeGetType(node, &type) != cudaSuccess) return false;
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return add_kernel(node);
    case cudaGraphNodeTypeMemset:
      return add_fill(node);
    case cudaGraphNodeTypeMemcpy:
      return add_copy(node);
    default:
      return type == cudaGraphNodeTypeEmpty;
  }
}

bool LaunchList::add_kernel(cudaGraphNode_t node) {
  CUDA_KERNEL_NODE_PARAMS of = {};
  if (!driver() || driver()->kernel_parameters(node, &of) != CUDA_SUCCESS) return false;
  Kernel kernel{.function = of.func ? of.func : reinterpret_cast<CUfunction>(of.kern),
                .config = {},
                .parameters = of.kernelParams,
                .extra = of.extra};
  CUlaunchConfig& config = kernel.config;
  config.gridDimX = of.gridDimX, config.gridDimY = of.gridDimY, config.gridDimZ = of.gridDimZ;
  config.blockDimX = of.blockDimX, config.blockDimY = of.blockDimY, config.blockDimZ = of.blockDimZ;
  config.sharedMemBytes = of.sharedMemBytes;
  if (!kernel.function) return false;
  for (const CUlaunchAttributeID id : {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE}) {
    CUlaunchAttributeValue value = {};
    if (driver()->kernel_attribute(node, id, &value) != CUDA_SUCCESS) return false;
    if (!is_set(id, value)) continue;
    CUlaunchAttribute& attribute = kernel.attributes[config.numAttrs++];
    attribute.id = id;
    attribute.value = value;
  }
  launches_.emplace_back(kernel);
  return true;
}

// Of bytes that are all alike, in one piece.
bool LaunchList::add_fill(cudaGraphNode_t node) {
  cudaMemsetParams of = {};
  if (cudaGraphMemsetNodeGetParams(node, &of) != cudaSuccess) return false;
  if (of.height > 1 || (of.elementSize > 1 && of.value != 0)) return false;
  launches_.emplace_back(Fill{of.dst, static_cast<int>(of.value), of.width * of.elementSize});
  return true;
}

// What is copied from the host would be read when it is launched.
bool LaunchList::add_copy(cudaGraphNode_t node) {
  RowCopy of = {};
  if (cudaGraphMemcpyNodeGetParams(node, &of) != cudaSuccess) return false;
  const void* from = of.srcPtr.ptr;
  void* to = of.dstPtr.ptr;
  if (of.kind != cudaMemcpyDeviceToDevice &&
      (of.kind != cudaMemcpyDefault || !is_on_the_device(from) || !is_on_the_device(to)))
    return false;
  const auto begins = [](const cudaPos& at) { return at.x == 0 && at.y == 0 && at.z == 0; };
  const bool in_one_piece =
      from && to && begins(of.srcPos) && begins(of.dstPos) && of.extent.height == 1 && of.extent.depth == 1;
  if (in_one_piece)
    launches_.emplace_back(Copy{to, from, of.extent.width});
  else
    launches_.emplace_back(of);
  return true;
}

bool LaunchList::launch(cudaStream_t stream) const {
  const auto enqueue = [stream](const auto& work) -> bool {
    using Work = std::decay_t<decltype(work)>;
    if constexpr (std::is_same_v<Work, Kernel>) {
      CUlaunchConfig config = work.config;
      config.hStream = stream;
      config.attrs = const_cast<CUlaunchAttribute*>(work.attributes.data());
      return driver()->launch(&config, work.function, work.parameters, work.extra) == CUDA_SUCCESS;
    } else if constexpr (std::is_same_v<Work, Fill>) {
      return cudaMemsetAsync(work.to, work.value, work.bytes, stream) == cudaSuccess;
    } else if constexpr (std::is_same_v<Work, Copy>) {
      return cudaMemcpyAsync(work.to, work.from, work.bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess;
    } else {
      return cudaMemcpy3DAsync(&work, stream) == cudaSuccess;
    }
  };
  for (std::size_t k = 0; k < launches_.size(); ++k) {
    if (std::visit(enqueue, launches_[k])) continue;
    forget_error();
    if (k == 0) return false;
    throw BackendError("CUDA took " + std::to_string(k) + " of " + std::to_string(launches_.size()) +
                       " launches that were captured, and then no more");
  }
  return true;
}

#endif

}  // namespace ebb
