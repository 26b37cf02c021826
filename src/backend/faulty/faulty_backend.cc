#include "backend/faulty/faulty_backend.h"

#include <string>

#include "backend/events.h"

namespace ebb {

bool FaultSeries::next_is_struck() {
  ++calls_;
  // Not std::bernoulli_distribution, whose draws differ between standard libraries.
  const double draw = static_cast<double>(random_() >> 11) * 0x1p-53;
  const bool struck = calls_ == pattern_.nth || draw < pattern_.probability;
  struck_ += struck;
  return struck;
}

FailingCopies::FailingCopies(std::unique_ptr<Backend> inner, const FaultPattern& pattern)
    : ForwardingBackend(std::move(inner)), series_(pattern) {}

void FailingCopies::copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) {
  if (engine != Engine::compute && series_.next_is_struck())
    throw BackendError("injected fault: copy number " + std::to_string(series_.calls()) + ", of " +
                       std::to_string(bytes) + " bytes on " + name_of(engine) + ", failed");
  inner().copy(engine, to, from, bytes);
}

ScarceHostMemory::ScarceHostMemory(std::unique_ptr<Backend> inner, Bytes bytes)
    : ForwardingBackend(std::move(inner)), limit_(bytes) {}

std::byte* ScarceHostMemory::host_slab(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - given_)
    throw BackendError("injected fault: host slab of " + std::to_string(bytes) + " bytes: " +
                       std::to_string(given_) + " of " + std::to_string(limit_) + " bytes are given out");
  std::byte* slab = inner().host_slab(bytes);
  given_ += bytes;
  return slab;
}

SlowCopies::SlowCopies(std::unique_ptr<Backend> inner, const Options& options)
    : ForwardingBackend(std::move(inner)), times_(options.times), series_(options.pattern) {}

void SlowCopies::copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) {
  const int times = engine != Engine::compute && series_.next_is_struck() ? times_ : 1;
  for (int i = 0; i < times; ++i) inner().copy(engine, to, from, bytes);
}

}  // namespace ebb
