// What the CUDA driver is told about a copy stream, to be said by a thread of its own: the host of a program
// has other things to do, and on many networks it is what a step waits for.
#pragma once

#include "backend/cuda/checked.h"
#include "backend/issue_thread.h"

namespace ebb {

struct DriverCall {
  enum class Kind : char { copy, record, wait };
  Kind kind = Kind::copy;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;  // record, wait
  std::byte* to = nullptr;      // copy
  const std::byte* from = nullptr;
  Bytes bytes = 0;
  cudaMemcpyKind direction = cudaMemcpyDefault;

  void operator()() const {
    switch (kind) {
      case Kind::copy:
        return checked(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), direction, stream),
                       "cudaMemcpyAsync", bytes);
      case Kind::record:
        return checked(cudaEventRecord(event, stream), "cudaEventRecord");
      case Kind::wait:
        return checked(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
    }
  }
};

using CopyIssuer = IssueThread<DriverCall>;

}  // namespace ebb
