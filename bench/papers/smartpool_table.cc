// [SP] table I beside ours: footprint ÷ peak load of every packer on the paper's networks, then on every
// recorded step with nothing moved (bench_fit has them under plans). Layouts are validated; a row that is not
// valid says so and fails the program.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "layout/heuristics.h"
#include "layout/online.h"
#include "layout/residencies.h"
#include "layout/validate.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using layout::CachingAllocator;
namespace fs = std::filesystem;

int failures = 0;

struct Published {
  const char* load;
  const char* cnmem;
  const char* smartpool;
};
// [SP] table I. The paper's inputs are CIFAR-10 at batch 100; so are ours, but in PyTorch and without
// cuDNN 5.1's workspaces.
const std::map<std::string, Published> kTableOne = {{"sp-resnet18-cifar-b100", {"1452", "1.033", "1.003"}},
                                                    {"sp-resnet34-cifar-b100", {"2824", "1.028", "1.001"}},
                                                    {"sp-resnet50-cifar-b100", {"4418", "1.030", "1.003"}},
                                                    {"sp-vgg11-cifar-b100", {"389", "1.169", "1.013"}},
                                                    {"sp-vgg13-cifar-b100", {"509", "1.115", "1.016"}},
                                                    {"sp-vgg16-cifar-b100", {"647", "1.113", "1.012"}},
                                                    {"sp-vgg19-cifar-b100", {"785", "1.072", "1.011"}}};

std::string ratio(Bytes footprint, Bytes load) {
  return fmt::format("{:.4f}", static_cast<double>(footprint) / static_cast<double>(load));
}

void print_row(const std::string& name, const layout::Problem& problem) {
  const std::clock_t start = std::clock();
  const layout::Layout packed = layout::pack(problem);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto smart_first = layout::pack_smartpool(problem, layout::Fit::kFirst);
  const auto smart_best = layout::pack_smartpool(problem, layout::Fit::kBest);
  for (const auto* candidate : {&packed, &smart_first, &smart_best})
    for (const auto& violation : layout::validate(problem, *candidate)) {
      fmt::print("INVALID {}: {}\n", name, violation.message);
      ++failures;
    }
  const Bytes load = packed.load;
  fmt::print(
      "{:<34}{:>8}{:>11.1f}{:>9}{:>4}{:>9.3f}{:>9}{:>9}{:>9}{:>9}{:>9}", name, problem.buffers.size(),
      static_cast<double>(load) / static_cast<double>(kMiB), ratio(packed.footprint, load),
      packed.proved ? "*" : "", seconds, ratio(smart_first.footprint, load),
      ratio(smart_best.footprint, load), ratio(layout::cnmem_footprint(problem), load),
      ratio(layout::caching_allocator_footprint(problem, CachingAllocator::Segments::kFixed), load),
      ratio(layout::caching_allocator_footprint(problem, CachingAllocator::Segments::kExpandable), load));
}

void print_header(const char* title, const char* more) {
  fmt::print("\n{}\n{:<34}{:>8}{:>11}{:>9}{:>4}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{}\n", title, "step", "buffers",
             "load MiB", "ebb", "", "CPU s", "SP first", "SP best", "cnmem", "PyTorch", "PT exp", more);
}

}  // namespace

int main() {
  const fs::path folder = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces";
  if (!fs::exists(folder)) {
    fmt::print("skipped: {} is not there\n", folder.lexically_normal().string());
    return 0;
  }
  std::map<std::string, Program> programs;
  for (const fs::path& sub : {folder, folder / "papers"})
    for (const auto& entry : fs::directory_iterator(sub))
      if (entry.path().extension() == ".gz")
        programs.emplace(entry.path().stem().stem().string(), load_program(entry.path().string()));
  print_header(
      "[SP] table I (footprint / peak load, 512-byte alignment; * = proved optimal; PT exp = expandable "
      "segments)",
      "   paper: load MB, cnmem, SmartPool");
  for (const auto& [name, published] : kTableOne) {
    const auto it = programs.find(name);
    if (it == programs.end()) continue;
    print_row(name, layout::arena_problem(it->second).problem);
    fmt::print("   {:>5}, {}, {}\n", published.load, published.cnmem, published.smartpool);
  }
  print_header("Every recorded step, nothing moved", "");
  for (const auto& [name, program] : programs) {
    print_row(name, layout::arena_problem(program).problem);
    fmt::print("\n");
  }
  return failures == 0 ? 0 : 1;
}
