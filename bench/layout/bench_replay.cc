// Host time of a malloc/free pair: by the replay table, and by the pool that serves what the plan does not
// know.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "layout/pool.h"
#include "layout/replay_table.h"

namespace {

using namespace ebb;
using namespace ebb::layout;

constexpr OpIndex kOps = 5'000;
constexpr int kMallocsPerOp = 4;

void planned_pair(benchmark::State& state) {
  std::vector<PlannedMalloc> mallocs;
  for (OpIndex op = 0; op < kOps; ++op) {
    for (int nth = 0; nth < kMallocsPerOp; ++nth) mallocs.push_back({op, nth, Bytes{512} * (op + nth)});
  }
  const ReplayTable table(kOps, mallocs);
  ReplayCursor cursor(table);
  OpIndex op = 0;
  int left = 0;
  for (auto _ : state) {
    if (left-- == 0) {
      cursor.begin_op(op = op + 1 == kOps ? 0 : op + 1);
      left = kMallocsPerOp - 1;
    }
    benchmark::DoNotOptimize(cursor.next_malloc());  // a planned free needs no work at all
  }
}
BENCHMARK(planned_pair);

void pooled_pair(benchmark::State& state) {
  BestFitPool pool({.base = 1 << 30});
  std::mt19937_64 random(1);
  std::uniform_int_distribution<Bytes> size(1, 1 << 20);
  std::vector<Bytes> live;
  for (int k = 0; k < state.range(0); ++k) live.push_back(pool.malloc(size(random)).value());
  std::size_t next = 0;
  for (auto _ : state) {
    pool.free(live[next]);
    live[next] = pool.malloc(size(random)).value();
    next = next + 1 == live.size() ? 0 : next + 1;
  }
}
BENCHMARK(pooled_pair)->Arg(16)->Arg(256)->Arg(4096);

}  // namespace
