// What was captured of a stream, to be launched again: kernels, and bytes that are set or copied within the
// device, one after the other, with the arguments they had. No graph is instantiated of it: for each the
// driver keeps some 90 KiB of the device (an H200, CUDA 13), which no limit would count. From CUDA 12 on.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <variant>
#include <vector>

namespace ebb {

class LaunchList {
 public:
  // Takes the graph. Null: it is no chain of such work, or there is nothing in it.
  static std::unique_ptr<LaunchList> of(cudaGraph_t graph);
  ~LaunchList() { cudaGraphDestroy(graph_); }
  LaunchList(const LaunchList&) = delete;
  LaunchList& operator=(const LaunchList&) = delete;

  // false: the device did not take the first of it, and nothing is done. Throws BackendError where it did not
  // take another.
  [[nodiscard]] bool launch(cudaStream_t stream) const;

 private:
  struct Kernel {
    CUfunction function = nullptr;
    CUlaunchConfig config = {};   // without stream and attributes
    void** parameters = nullptr;  // the graph's, as `extra`
    void** extra = nullptr;
    std::array<CUlaunchAttribute, 3> attributes = {};
  };
  struct Fill {
    void* to = nullptr;
    int value = 0;
    std::size_t bytes = 0;
  };
  struct Copy {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
  };
  using RowCopy = cudaMemcpy3DParms;

  explicit LaunchList(cudaGraph_t graph) : graph_(graph) {}
  [[nodiscard]] bool add(cudaGraphNode_t node);
  [[nodiscard]] bool add_kernel(cudaGraphNode_t node);
  [[nodiscard]] bool add_fill(cudaGraphNode_t node);
  [[nodiscard]] bool add_copy(cudaGraphNode_t node);

  cudaGraph_t graph_;
  std::vector<std::variant<Kernel, Fill, Copy, RowCopy>> launches_;
};

}  // namespace ebb
