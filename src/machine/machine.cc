#include "machine/machine.h"

#include <algorithm>
#include <cmath>

namespace ebb {
namespace {

Nanoseconds copy_time(Bytes bytes, Bytes per_second, Nanoseconds latency) {
  constexpr Bytes kSecond = 1'000'000'000;
  const Bytes whole = bytes / per_second;
  const auto rest = static_cast<__int128>(bytes % per_second) * kSecond;
  return latency + whole * kSecond + static_cast<Nanoseconds>((rest + per_second - 1) / per_second);
}

}  // namespace

Nanoseconds Machine::op_time(const Op& op) const {
  double scale = compute_scale;
  if (!op_scale.empty())
    if (const auto it = op_scale.find(op.name); it != op_scale.end()) scale *= it->second;
  if (scale == 1.0) return op.duration;
  return std::llround(static_cast<double>(op.duration) * scale);
}

Nanoseconds Machine::copy_out_time(Bytes bytes) const { return copy_time(bytes, bandwidth_out, latency_out); }
Nanoseconds Machine::copy_in_time(Bytes bytes) const { return copy_time(bytes, bandwidth_in, latency_in); }

std::int64_t Machine::copy_stretch() const {
  if (bandwidth_both <= 0) return kNoStretch;
  const auto sum = static_cast<__int128>(bandwidth_in + bandwidth_out) * kNoStretch;
  return std::max(kNoStretch, static_cast<std::int64_t>((sum + bandwidth_both - 1) / bandwidth_both));
}

}  // namespace ebb
