#include <chrono>
#include <thread>

#include "backend/host/host_backend.h"
#include "workbench.h"

namespace ebb {
namespace {

constexpr LinkOptions kLink = {.bytes_per_second_out = 400'000'000,
                               .bytes_per_second_in = 400'000'000,
                               .bytes_per_second_both = 700'000'000,
                               .latency_out = 20'000,
                               .latency_in = 20'000};

class HostWorkbench final : public Workbench {
 public:
  const char* name() const override { return "host backend, emulated link"; }
  std::unique_ptr<Backend> backend() override {
    return std::make_unique<HostBackend>(HostOptions{.link = kLink});
  }
  // Sleeps, then spins for the rest: the machine may have fewer cores than there are engines.
  void work(Nanoseconds duration) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(duration);
    if (duration > kSpin) std::this_thread::sleep_for(std::chrono::nanoseconds(duration - kSpin));
    while (std::chrono::steady_clock::now() < end) continue;
  }
  Machine machine() override {
    return {.name = "emulated link",
            .bandwidth_out = kLink.bytes_per_second_out,
            .bandwidth_in = kLink.bytes_per_second_in,
            .bandwidth_both = kLink.bytes_per_second_both,
            .latency_out = kLink.latency_out,
            .latency_in = kLink.latency_in};
  }
  bool is_large() const override { return false; }

 private:
  static constexpr Nanoseconds kSpin = 100'000;
};

}  // namespace

std::unique_ptr<Workbench> make_workbench() { return std::make_unique<HostWorkbench>(); }

}  // namespace ebb
