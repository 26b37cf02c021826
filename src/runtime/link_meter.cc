#include "runtime/link_meter.h"

#include <algorithm>

namespace ebb {

namespace {
constexpr double kWeightOfNew = 0.25;
constexpr double kRemembered = 0.875;  // of the copies before, at each
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
      links_[static_cast<std::size_t>(sample.engine)].add(
          static_cast<double>(backend.elapsed(sample.start, sample.end)), sample.bytes);
    } catch (const BackendError&) {
      // Its events lie too far back: one sample less.
    }
  }
}

void LinkMeter::Link::add(double taken, Bytes copied) {
  if (taken <= 0) return;
  const auto size = static_cast<double>(copied);
  if (copied < kSmall) {
    const double beside = std::max(0.0, taken - size * time / bytes);
    latency += kWeightOfNew * (beside - latency);
    return;
  }
  time = kRemembered * time + std::max(taken - latency, taken / 2);
  bytes = kRemembered * bytes + size;
  if (copied < kLarge) return;
  const double seen = taken / size;
  of_large = of_large == 0 ? seen : of_large + kWeightOfNew * (seen - of_large);
}

Nanoseconds LinkMeter::estimate(Engine engine, Bytes bytes) const {
  const Link& link = links_[static_cast<std::size_t>(engine)];
  return static_cast<Nanoseconds>(link.latency + static_cast<double>(bytes) * link.time / link.bytes);
}

std::optional<Bytes> LinkMeter::bandwidth(Engine engine) const {
  const double large = links_[static_cast<std::size_t>(engine)].of_large;
  if (large == 0) return std::nullopt;
  return std::max<Bytes>(1, static_cast<Bytes>(1e9 / large));
}

}  // namespace ebb
