// Wrappers that make things go wrong, one kind each, to be stacked. What is random is the same for the same
// seed.
#pragma once

#include <mutex>
#include <random>

#include "backend/forwarding_backend.h"

namespace ebb {

// Says for each of a series of calls whether the fault strikes it.
struct FaultPattern {
  std::int64_t nth = 0;    // strikes this one, counted from 1; 0 = no particular one
  double probability = 0;  // and each of the others with this probability
  std::uint64_t seed = 1;
};

class FaultSeries {
 public:
  explicit FaultSeries(const FaultPattern& pattern) : pattern_(pattern), random_(pattern.seed) {}
  bool next_is_struck();
  std::int64_t calls() const { return calls_; }
  std::int64_t struck() const { return struck_; }

 private:
  FaultPattern pattern_;
  std::mt19937_64 random_;
  std::int64_t calls_ = 0;
  std::int64_t struck_ = 0;
};

// Struck copies are not enqueued; `copy` throws BackendError. Copies within the device (compute) are never
// struck.
class FailingCopies final : public ForwardingBackend {
 public:
  FailingCopies(std::unique_ptr<Backend> inner, const FaultPattern& pattern);
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override;
  std::int64_t failed() const { return series_.struck(); }

 private:
  FaultSeries series_;
};

// Host memory that runs out: host_slab throws BackendError when all slabs together would pass `bytes`.
class ScarceHostMemory final : public ForwardingBackend {
 public:
  ScarceHostMemory(std::unique_ptr<Backend> inner, Bytes bytes);
  std::byte* host_slab(Bytes bytes) override;

 private:
  std::mutex mutex_;  // host_slab may run beside the others
  Bytes limit_;
  Bytes given_ = 0;
};

// A slow link: struck copies on out and in are enqueued `times` times over. It works on every backend, delays
// what follows on the engine and not the caller, and leaves the same bytes, because a copy's source may not
// change before the copy has ended.
class SlowCopies final : public ForwardingBackend {
 public:
  struct Options {
    int times = 2;
    FaultPattern pattern = {.probability = 1};
  };
  SlowCopies(std::unique_ptr<Backend> inner, const Options& options);
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override;
  std::int64_t slowed() const { return series_.struck(); }

 private:
  int times_;
  FaultSeries series_;
};

}  // namespace ebb
