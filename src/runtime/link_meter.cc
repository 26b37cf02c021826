#include "runtime/link_meter.h"

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
      rate += kWeightOfNew * (taken / static_cast<double>(sample.bytes) - rate);
    } catch (const BackendError&) {
      // Its events lie too far back: one sample less.
    }
  }
}

Nanoseconds LinkMeter::estimate(Engine engine, Bytes bytes) const {
  return static_cast<Nanoseconds>(nanoseconds_per_byte_[static_cast<std::size_t>(engine)] *
                                  static_cast<double>(bytes));
}

}  // namespace ebb
