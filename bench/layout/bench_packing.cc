// The packing table: every shared packing input, our packer and the baselines beside it, all layouts
// validated. Seconds are CPU seconds of one thread. `bench_packing quick` leaves out the long minimisations.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "layout/csv.h"
#include "layout/heuristics.h"
#include "layout/online.h"
#include "layout/packing.h"
#include "layout/validate.h"

namespace {

using namespace ebb;
using namespace ebb::layout;

constexpr Bytes kChallengingCapacity = 1048576;
constexpr int kSeeds = 10;

const std::filesystem::path kData =
    std::filesystem::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "packing";

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Timed {
  Layout layout;
  double seconds = 0;
};

Timed timed_pack(const Problem& problem, const PackOptions& options) {
  const double start = cpu_seconds();
  Timed result{.layout = pack(problem, options)};
  result.seconds = cpu_seconds() - start;
  if (!result.layout.fits) return result;
  for (const Violation& violation : validate(problem, result.layout, options)) {
    fmt::print("INVALID: {}\n", violation.message);
    std::exit(1);
  }
  return result;
}

Problem challenging(char name) {
  return read_csv(kData / fmt::format("challenging-{}.1048576.csv", name)).problem;
}

void show_capacity() {
  fmt::print("\nDo the challenging instances fit in {}? Milliseconds for seeds 0 … {}\n",
             kChallengingCapacity, kSeeds - 1);
  std::vector<double> total(kSeeds, 0);
  int unsolved = 0;
  for (char name = 'A'; name <= 'K'; ++name) {
    const Problem problem = challenging(name);
    fmt::print("{}  {:3} buffers ", name, problem.buffers.size());
    for (int seed = 0; seed < kSeeds; ++seed) {
      const Timed result = timed_pack(
          problem,
          {.alignment = 1, .capacity = kChallengingCapacity, .seed = static_cast<std::uint64_t>(seed)});
      if (!result.layout.fits) ++unsolved;
      total[seed] += result.seconds;
      fmt::print(" {}{:6.1f}", result.layout.fits ? ' ' : '!', result.seconds * 1e3);
    }
    fmt::print("\n");
  }
  fmt::print("all            ");
  for (const double seconds : total) fmt::print("  {:6.1f}", seconds * 1e3);
  fmt::print("   ({} unsolved)\n", unsolved);
}

// A budget in steps, not a deadline: the seconds are then those of this thread on any machine, busy or not.
void show_minimise(const std::string& names, std::int64_t budget, int seeds) {
  fmt::print("\nMinimised with {} steps\n   seed      load      footprint  ratio    proved   seconds\n",
             budget);
  for (const char name : names) {
    const Problem problem = challenging(name);
    for (int seed = 0; seed < seeds; ++seed) {
      const Timed result =
          timed_pack(problem, {.alignment = 1, .seed = static_cast<std::uint64_t>(seed), .budget = budget});
      fmt::print("{}  {:4}  {:9}  {:9}  {:.5f}  {:7}  {:8.3f}\n", name, seed, result.layout.load,
                 result.layout.footprint, result.layout.ratio(), result.layout.proved ? "yes" : "no",
                 result.seconds);
    }
  }
}

void show_baselines(const std::vector<std::string>& files) {
  fmt::print(
      "\nFootprint / load, 512-byte alignment\n{:24} {:>8} {:>8} {:>9} | {:>8} {:>8} {:>8} {:>8} {:>8}\n", "",
      "buffers", "pack", "ms", "SP-best", "SP-first", "cnmem", "pytorch", "expand");
  for (const std::string& file : files) {
    const Problem problem = read_csv(kData / file).problem;
    const Timed result = timed_pack(problem, {});
    const auto load = static_cast<double>(result.layout.load);
    fmt::print("{:24} {:8} {:8.5f} {:9.2f} |", file.substr(0, file.find(".csv")), problem.buffers.size(),
               result.layout.ratio(), result.seconds * 1e3);
    for (const Fit fit : {Fit::kBest, Fit::kFirst})
      fmt::print(" {:8.4f}", pack_smartpool(problem, fit).ratio());
    fmt::print(" {:8.4f}", static_cast<double>(cnmem_footprint(problem)) / load);
    for (const auto segments :
         {CachingAllocator::Segments::kFixed, CachingAllocator::Segments::kExpandable}) {
      fmt::print(" {:8.4f}", static_cast<double>(caching_allocator_footprint(problem, segments)) / load);
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!std::filesystem::exists(kData)) {
    fmt::print("no packing data at {}\n", kData.string());
    return 1;
  }
  const bool quick = argc > 1 && std::string(argv[1]) == "quick";
  show_baselines({"resnet50-train.csv", "transformer-816.csv", "pangu-2.6b-train.csv.gz"});
  show_capacity();
  if (quick) return 0;
  show_minimise("ABCEFGHIK", 2'000'000, 1);
  show_minimise("D", 2'000'000, 5);
  show_minimise("J", 2'000'000, 3);
  return 0;
}
