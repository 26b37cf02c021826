#include "cli/measure.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "backend/cuda/cuda_backend.h"
#include "backend/host/host_backend.h"
#include "backend/measure.h"
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

Bytes whole(double rate) { return static_cast<Bytes>(std::llround(rate)); }

std::int64_t millionths(double factor) { return std::llround(factor * 1e6); }

}  // namespace

Machine measure_machine(std::string_view backend_name) try {
  std::unique_ptr<Backend> backend = backend_name == "host" ? nullptr : cuda_backend(backend_name == "cuda");
  const bool is_cuda = backend != nullptr;
  if (!backend) backend = std::make_unique<HostBackend>();
  const LinkMeasurement measured = measure_link(*backend);
  Machine machine;
  machine.name = is_cuda ? "measured-cuda" : "measured-host";
  machine.source =
      fmt::format("measured by ebb machines --measure on the {} backend", is_cuda ? "cuda" : "host");
  machine.bandwidth_out = whole(measured.rate_out);
  machine.bandwidth_in = whole(measured.rate_in);
  machine.bandwidth_both = whole(measured.rate_both);
  machine.latency_out = measured.latency_out;
  machine.latency_in = measured.latency_in;
  machine.compute_stretch = {1'000'000, millionths(measured.stretch_out), millionths(measured.stretch_in),
                             millionths(measured.stretch_both)};
  machine.pin_seconds_per_gib = measured.pin_seconds_per_gib;
  return machine;
} catch (const BackendError& error) {
  throw SystemError(fmt::format("the measurement failed: {}", error.what()));
}

}  // namespace ebb::cli
