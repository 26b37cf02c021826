#include "runtime/link_meter.h"

#include <algorithm>

namespace ebb {

namespace {
constexpr double kWeightOfNew = 0.25;
}

void LinkMeter::add(Engine engine, Event start, Event end, Bytes bytes) {
  if (bytes <= 0 || samples_.size() >= kMostSamples) return;
  samples_.push_back({engine, start, end, bytes});
}

void LinkMeter::update(Backend& backend) {
  while (!samples_.empty() && backend.happened(samples_.front().end)) {
    const Sample sample = samples_.front();
    samples_.pop_front();
    try {
      const auto taken = static_cast<double>(backend.elapsed(sample.start, sample.end));
      double& rate = nanoseconds_per_byte_[static_cast<std::size_t>(sample.engine)];
      const double seen = taken / static_cast<double>(sample.bytes);
      rate += kWeightOfNew * (seen - rate);
      if (sample.bytes < kLarge || seen <= 0) continue;
      double& large = of_large_[static_cast<std::size_t>(sample.engine)];
      large = large == 0 ? seen : large + kWeightOfNew * (seen - large);
    } catch (const BackendError&) {
      // Its events lie too far back: one sample less.
    }
  }
}

Nanoseconds LinkMeter::estimate(Engine engine, Bytes bytes) const {
  return static_cast<Nanoseconds>(nanoseconds_per_byte_[static_cast<std::size_t>(engine)] *
                                  static_cast<double>(bytes));
}

std::optional<Bytes> LinkMeter::bandwidth(Engine engine) const {
  const double large = of_large_[static_cast<std::size_t>(engine)];
  if (large == 0) return std::nullopt;
  return std::max<Bytes>(1, static_cast<Bytes>(1e9 / large));
}

}  // namespace ebb
