// What a Device costs the host per op: an exec with one malloc in it and the free after it. The backend does
// nothing, so this is Ebb's own time.
#include <benchmark/benchmark.h>

#include <thread>

#include "backend/forwarding_backend.h"
#include "backend/null/null_backend.h"
#include "step_player.h"

namespace ebb {
namespace {

constexpr int kLayers = 200;
constexpr Bytes kBytes = 256 * kKiB;

class NoCopies final : public ForwardingBackend {
 public:
  NoCopies() : ForwardingBackend(std::make_unique<NullBackend>()) {}
  void copy(Engine, std::byte*, const std::byte*, Bytes) override {}
};

// Forward makes an activation per layer, backward reads it and updates the layer's weight.
Program chain() {
  std::vector<Block> blocks;
  std::vector<Op> ops(2 * kLayers);
  for (int i = 0; i < kLayers; ++i) blocks.push_back({.bytes = kBytes, .lifetime = Lifetime::persistent});
  for (int i = 0; i < kLayers; ++i)
    blocks.push_back({.bytes = kBytes, .birth = i, .death = 2 * kLayers - 1 - i});
  for (int i = 0; i < kLayers; ++i) {
    const BlockId weight = i, act = kLayers + i;
    Op& forward = ops[static_cast<std::size_t>(i)];
    Op& backward = ops[static_cast<std::size_t>(2 * kLayers - 1 - i)];
    forward = {.name = "aten::convolution", .duration = 100'000};
    forward.accesses = {{.block = weight, .reads = true}, {.block = act, .writes = true}};
    if (i > 0) forward.accesses.push_back({.block = act - 1, .reads = true});
    backward = {.name = "aten::convolution_backward", .duration = 200'000};
    backward.accesses = {{.block = act, .reads = true}, {.block = weight, .reads = true, .writes = true}};
  }
  return Program::build({.name = "chain"}, std::move(ops), std::move(blocks));
}

void per_op(benchmark::State& state, Mode mode, double limit) {
  const Program program = chain();
  NoCopies backend;
  Device device(backend, {.limit = static_cast<Bytes>(limit * static_cast<double>(program.peak_demand())),
                          .mode = mode});
  StepPlayer player(device, program, [](const Op&, bool) {});
  for (int i = 0; i < 20; ++i) player.iterate();
  for (int i = 0; i < 4000 && mode == Mode::planned && device.status().mode != Mode::planned; ++i) {
    player.iterate();
    if (device.status().planning) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (mode == Mode::planned && device.status().mode != Mode::planned)
    return state.SkipWithError(("no plan: " + device.status().refusal).c_str());
  for (int i = 0; i < 20; ++i) player.iterate();
  const DeviceStatistics before = device.statistics();
  for (auto _ : state) player.iterate();
  const DeviceStatistics after = device.statistics();
  const auto ops = static_cast<double>(after.ops - before.ops);
  state.counters["ns/op"] =
      benchmark::Counter(ops * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["copies/op"] =
      static_cast<double>(after.bytes_out - before.bytes_out + after.bytes_in - before.bytes_in) /
      static_cast<double>(kBytes) / ops;
  state.counters["left out"] = static_cast<double>(device.status().left_out);
}

BENCHMARK_CAPTURE(per_op, reactive_with_room, Mode::reactive, 1.2)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(per_op, planned_with_room, Mode::planned, 1.2)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(per_op, reactive_at_75_percent, Mode::reactive, 0.75)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(per_op, planned_at_75_percent, Mode::planned, 0.75)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ebb
