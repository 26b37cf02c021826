#include <cstring>
#include <random>

#include "backend/conformance.h"

namespace ebb::conformance {
namespace {

constexpr Bytes kLargest = 48 * kKiB + 5;
constexpr std::size_t kDeviceRegions = 6;
constexpr std::size_t kRegions = 10;  // the others are on the host

using Content = std::vector<std::byte>;

// Memory that copies run between, with the events that those who use it next must wait for.
struct Region {
  std::byte* at = nullptr;
  Event written = kHappened;
  std::vector<Event> read;  // since it was written
  Content expected;
};

class RandomCopies {
 public:
  RandomCopies(const MakeBackend& make, std::uint64_t seed)
      : random_(seed), backend_(make()), regions_(kRegions) {
    std::byte* device = backend_->reserve(kLargest * Bytes{kDeviceRegions});
    std::byte* host = backend_->host_slab(kLargest * Bytes{kRegions});
    for (std::size_t i = 0; i < kRegions; ++i) {
      Region& region = regions_[i];
      region.at = (i < kDeviceRegions ? device : host) +
                  kLargest * static_cast<Bytes>(i < kDeviceRegions ? i : i - kDeviceRegions);
      region.expected.resize(static_cast<std::size_t>(kLargest));
      if (i < kDeviceRegions) continue;
      for (std::byte& byte : region.expected) byte = static_cast<std::byte>(random_());
      std::memcpy(region.at, region.expected.data(), region.expected.size());
    }
    scratch_ = host + kLargest * Bytes{kRegions - kDeviceRegions};
    for (std::size_t i = 0; i < kDeviceRegions; ++i) copy(Engine::in, i, kDeviceRegions, 0, kLargest);
  }

  void one() {
    constexpr Engine kChoice[] = {Engine::compute, Engine::out, Engine::out, Engine::in, Engine::in};
    const Engine engine = kChoice[below(5)];
    const std::size_t to = engine == Engine::out ? on_host() : below(kDeviceRegions);
    std::size_t from = engine == Engine::in ? on_host() : below(kDeviceRegions);
    if (from == to) from = (from + 1) % kDeviceRegions;
    const auto begin = static_cast<Bytes>(below(static_cast<std::size_t>(kLargest)));
    copy(engine, to, from, begin, 1 + static_cast<Bytes>(below(static_cast<std::size_t>(kLargest - begin))));
  }

  std::string compare() {
    for (std::size_t i = 0; i < kRegions; ++i) {
      Region& region = regions_[i];
      const std::byte* found = region.at;
      if (i < kDeviceRegions) {
        backend_->wait(Engine::out, region.written);
        backend_->copy(Engine::out, scratch_, region.at, kLargest);
        backend_->synchronize(backend_->record(Engine::out));
        found = scratch_;
      } else {
        backend_->synchronize(region.written);
      }
      if (std::memcmp(found, region.expected.data(), region.expected.size()) != 0)
        return "region " + std::to_string(i) + " differs";
    }
    return "";
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::size_t on_host() { return kDeviceRegions + below(kRegions - kDeviceRegions); }

  // Copies the same range of two regions, in order after those it must follow and no others.
  void copy(Engine engine, std::size_t to_index, std::size_t from_index, Bytes begin, Bytes bytes) {
    Region& to = regions_[to_index];
    Region& from = regions_[from_index];
    backend_->wait(engine, from.written);
    backend_->wait(engine, to.written);
    for (const Event event : to.read) backend_->wait(engine, event);
    backend_->copy(engine, to.at + begin, from.at + begin, bytes);
    to.written = backend_->record(engine);
    to.read.clear();
    from.read.push_back(to.written);
    std::memcpy(to.expected.data() + begin, from.expected.data() + begin, static_cast<std::size_t>(bytes));
  }

  std::mt19937_64 random_;
  std::unique_ptr<Backend> backend_;
  std::vector<Region> regions_;
  std::byte* scratch_ = nullptr;
};

}  // namespace

std::string random_copies_match_a_serial_run(const MakeBackend& make, std::uint64_t seed, int copies) {
  RandomCopies run(make, seed);
  for (int i = 0; i < copies; ++i) run.one();
  const std::string error = run.compare();
  return error.empty() ? "" : "seed " + std::to_string(seed) + ": " + error;
}

}  // namespace ebb::conformance
