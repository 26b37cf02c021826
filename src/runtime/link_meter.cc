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
      add_to(links_[static_cast<std::size_t>(sample.engine)],
             static_cast<double>(backend.elapsed(sample.start, sample.end)), sample.bytes);
    } catch (const BackendError&) {
      // Its events lie too far back: one sample less.
    }
  }
}

void LinkMeter::add_to(Link& link, double taken, Bytes bytes) {
  if (taken <= 0) return;
  const auto size = static_cast<double>(bytes);
  if (bytes < kSmall) {
    const double beside = std::max(0.0, taken - size * link.time / link.bytes);
    link.latency += kWeightOfNew * (beside - link.latency);
    return;
  }
  link.time = kRemembered * link.time + std::max(taken - link.latency, taken / 2);
  link.bytes = kRemembered * link.bytes + size;
  if (bytes < kLarge) return;
  const double seen = taken / size;
  link.of_large = link.of_large == 0 ? seen : link.of_large + kWeightOfNew * (seen - link.of_large);
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
