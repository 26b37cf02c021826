// The smallest program that lives within a memory limit: sixteen vectors of 1 MiB on a device of 4 MiB.
// Blocks that are not in use move to host memory by themselves; the program never notices.
#include <cstdio>
#include <vector>

#include "backend/host/host_backend.h"
#include "runtime/device.h"

namespace {

constexpr ebb::Bytes kBytes = ebb::kMiB;
constexpr int kVectors = 16;
constexpr int kFloats = static_cast<int>(kBytes / static_cast<ebb::Bytes>(sizeof(float)));

float* floats(std::byte* data) { return reinterpret_cast<float*>(data); }

}  // namespace

int main() {
  ebb::HostBackend backend;  // or make_cuda_backend(): the rest stays as it is
  ebb::Device device(backend, {.limit = 4 * kBytes, .host_slab = 16 * kBytes});

  std::vector<ebb::Handle> vectors;
  for (int k = 0; k < kVectors; ++k) {
    const ebb::Handle v = device.malloc(kBytes);
    device.exec({.name = "fill", .replayable = true}, {}, {{v}}, [=](ebb::ExecContext& context) {
      for (int i = 0; i < kFloats; ++i) floats(context.data(v))[i] = static_cast<float>(k);
    });
    vectors.push_back(v);
  }

  const ebb::Handle sum = device.malloc(kBytes);
  device.exec({.name = "zero"}, {}, {{sum}}, [=](ebb::ExecContext& context) {
    for (int i = 0; i < kFloats; ++i) floats(context.data(sum))[i] = 0;
  });
  for (const ebb::Handle v : vectors)
    device.exec({.name = "add"}, {{v, sum}}, {{sum}}, [=](ebb::ExecContext& context) {
      for (int i = 0; i < kFloats; ++i) floats(context.data(sum))[i] += floats(context.data(v))[i];
    });

  const ebb::Pin pin = device.pin(sum, ebb::PinFor::reading);
  const float first = floats(pin.data())[0];
  const ebb::DeviceStatistics s = device.statistics();
  std::printf(
      "the sum is %g; %d MiB of vectors in %lld MiB of memory, %lld MiB moved out and %lld in\n",
      static_cast<double>(first), kVectors + 1, static_cast<long long>(s.arena_high_water / ebb::kMiB),
      static_cast<long long>(s.bytes_out / ebb::kMiB), static_cast<long long>(s.bytes_in / ebb::kMiB));
  return first == kVectors * (kVectors - 1) / 2 && s.arena_high_water <= 4 * kBytes ? 0 : 1;
}
