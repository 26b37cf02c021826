#include "cli/measure.h"

#include <fmt/format.h>

#include <memory>

#include "backend/cuda/cuda_backend.h"
#include "backend/host/host_backend.h"
#include "runtime/measured_machine.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

// Null if there is none.
std::unique_ptr<Backend> cuda_backend(bool required) try {
  return make_cuda_backend();
} catch (const BackendError& error) {
  if (required) throw SystemError(fmt::format("no CUDA device can be measured: {}", error.what()));
  return nullptr;
}

}  // namespace

Machine measure_machine(std::string_view backend_name) try {
  std::unique_ptr<Backend> backend = backend_name == "host" ? nullptr : cuda_backend(backend_name == "cuda");
  const bool is_cuda = backend != nullptr;
  if (!backend) backend = std::make_unique<HostBackend>();
  Machine machine = measured_machine(*backend);
  machine.name = is_cuda ? "measured-cuda" : "measured-host";
  machine.source =
      fmt::format("measured by ebb machines --measure on the {} backend", is_cuda ? "cuda" : "host");
  return machine;
} catch (const BackendError& error) {
  throw SystemError(fmt::format("the measurement failed: {}", error.what()));
}

}  // namespace ebb::cli
