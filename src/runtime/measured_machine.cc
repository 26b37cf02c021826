#include "runtime/measured_machine.h"

#include <cmath>

namespace ebb {
namespace {

Bytes whole(double rate) { return static_cast<Bytes>(std::llround(rate)); }

std::int64_t millionths(double factor) { return std::llround(factor * 1e6); }

}  // namespace

Machine measured_machine(Backend& backend, const MeasureOptions& options) {
  const LinkMeasurement measured = measure_link(backend, options);
  Machine machine;
  machine.bandwidth_out = whole(measured.rate_out);
  machine.bandwidth_in = whole(measured.rate_in);
  machine.bandwidth_both = whole(measured.rate_both);
  machine.latency_out = measured.latency_out;
  machine.latency_in = measured.latency_in;
  machine.compute_stretch = {kNoStretch, millionths(measured.stretch_out), millionths(measured.stretch_in),
                             millionths(measured.stretch_both)};
  machine.memory_gb_per_s = std::round(measured.memory_rate / 1e7) / 100;
  machine.worst_stretch = true;
  machine.pin_seconds_per_gib = measured.pin_seconds_per_gib;
  return machine;
}

}  // namespace ebb
