// How long one judgement takes: lowering and simulating a plan that swaps and recomputes, steady state
// included.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>

#include "machine/presets.h"
#include "plan/lower.h"
#include "plan/recipes.h"
#include "simulate/simulator.h"
#include "trace/load.h"

namespace ebb {
namespace {

// Moves gaps across the peak, in random order, every second one by recomputation where that is possible,
// until the limit of half the peak holds.
struct Case {
  Program program;
  Gaps gaps;
  Machine machine;
  Bytes limit;
  Plan plan;
  LoweredPlan lowered;

  explicit Case(Program p)
      : program(std::move(p)), gaps(program), machine(find_preset("h200")), limit(program.peak_demand() / 2) {
    const auto recipes = find_recipes(program, gaps);
    const OpIndex peak = program.peak_op();
    std::vector<GapId> order;
    for (GapId g = 0; g < gaps.count(); ++g)
      if (gaps[g].from < peak && gaps[g].to > peak) order.push_back(g);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    plan = Plan::keep_all(gaps);
    Lowerer lowerer(program, gaps);
    for (std::size_t i = 0; i < order.size() && lowerer.lower(plan, limit, lowered); ++i) {
      const GapId g = order[i];
      const bool remake =
          i % 2 == 0 && gaps[g].kind == GapKind::between && recipes[static_cast<std::size_t>(g)].remakable;
      plan[g].action = remake ? Action::recompute : Action::swap;
      const auto obstacle = lowerer.lower(plan, limit, lowered);
      if (obstacle && obstacle->obstacle == Obstacle::not_remakable) plan[g].action = Action::swap;
    }
    if (lowerer.lower(plan, limit, lowered)) std::abort();
  }
};

// A network of `layers` convolution-like layers with backward and update: three ops a layer.
Program deep_chain(OpIndex layers) {
  std::vector<Op> ops(static_cast<std::size_t>(3 * layers));
  std::vector<Block> blocks;
  for (OpIndex i = 0; i < layers; ++i) {
    const OpIndex backward = 2 * layers - 1 - i;
    const auto weight = static_cast<BlockId>(blocks.size());
    blocks.push_back({1 * kMiB, Lifetime::persistent, kNoOp, kNoOp});
    blocks.push_back({16 * kMiB, Lifetime::local, i, backward});  // activation
    blocks.push_back(
        {16 * kMiB, Lifetime::local, backward, std::min(backward + 1, 2 * layers)});  // its gradient
    blocks.push_back({1 * kMiB, Lifetime::local, backward, 2 * layers + i});          // the weight's gradient
    auto& forward = ops[static_cast<std::size_t>(i)].accesses;
    auto& back = ops[static_cast<std::size_t>(backward)].accesses;
    if (i > 0) forward.push_back({weight - 3, true, false, false});
    forward.push_back({weight, true, false, false});
    forward.push_back({weight + 1, false, true, false});
    if (i + 1 < layers) back.push_back({weight + 6, true, false, false});
    back.push_back({weight, true, false, false});
    back.push_back({weight + 1, true, false, false});
    back.push_back({weight + 2, false, true, false});
    back.push_back({weight + 3, false, true, false});
    ops[static_cast<std::size_t>(2 * layers + i)].accesses = {{weight, true, true, false},
                                                              {weight + 3, true, false, false}};
  }
  for (Op& op : ops) op.duration = 150'000;
  return Program::build({.name = "chain"}, std::move(ops), std::move(blocks));
}

const Case& resnet50() {
  static const Case instance(load_program(std::string(EBB_SOURCE_DIR) + "/data/resnet50.json.gz"));
  return instance;
}

const Case& deep() {
  static const Case instance(deep_chain(5667));
  return instance;
}

void simulate(benchmark::State& state, const Case& c) {
  Simulator simulator(c.program, c.gaps, c.machine);
  StepResult result;
  for (auto _ : state) benchmark::DoNotOptimize(result = simulator.run(c.lowered, c.limit));
  state.counters["ops"] = c.program.op_count();
  state.counters["swaps"] = static_cast<double>(c.lowered.swaps.size());
  state.counters["replays"] = static_cast<double>(c.lowered.replays.size());
  state.counters["iterations"] = result.iterations;
}

void lower(benchmark::State& state, const Case& c) {
  Lowerer lowerer(c.program, c.gaps);
  LoweredPlan lowered;
  for (auto _ : state) benchmark::DoNotOptimize(lowerer.lower(c.plan, c.limit, lowered));
  state.counters["ops"] = c.program.op_count();
}

void SimulateResnet50(benchmark::State& state) { simulate(state, resnet50()); }
void SimulateDeepChain(benchmark::State& state) { simulate(state, deep()); }
void LowerResnet50(benchmark::State& state) { lower(state, resnet50()); }
void LowerDeepChain(benchmark::State& state) { lower(state, deep()); }

BENCHMARK(SimulateResnet50)->Unit(benchmark::kMicrosecond);
BENCHMARK(SimulateDeepChain)->Unit(benchmark::kMicrosecond);
BENCHMARK(LowerResnet50)->Unit(benchmark::kMicrosecond);
BENCHMARK(LowerDeepChain)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ebb
