#include "home_inputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "machine/presets.h"
#include "machine/scale.h"
#include "planners/largest_batch.h"
#include "trace/load.h"

namespace ebb::papers {
namespace {

struct Source {
  const char* name;
  const char* trace;
  std::int64_t batches[2];
  HomePublished published;
};

const Source kSources[] = {
    {"MobileNet", "home-mobilenet", {512, 1024}, {{2012, 3954, 4200}, {1706, 2999, 3426}, 28, 1.7}},
    {"Plain20", "home-plain20", {512, 1024}, {{1040, 2843, 2926}, {2368, 2012, 2554}, 41, 2.2}},
    {"VGG16", "home-vgg16", {1024, 2048}, {{2759, 4250, 5125}, {2786, 5120, 6211}, 25, 1.4}},
    {"ResNet", "home-resnet18", {256, 512}, {{1255, 2014, 2576}, {2285, 2179, 2519}, 10, 0.6}},
};

}  // namespace

std::vector<HomeNetwork> load_home_networks() {
  const std::filesystem::path folder =
      std::filesystem::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces" / "papers";
  std::vector<HomeNetwork> networks;
  if (!std::filesystem::exists(folder)) {
    fmt::print("skipped: {} is not there\n", folder.lexically_normal().string());
    return networks;
  }
  for (const Source& source : kSources) {
    auto program = [&](std::int64_t batch) {
      return load_program((folder / fmt::format("{}-cifar-b{}.json.gz", source.trace, batch)).string());
    };
    BatchModel model(program(source.batches[0]), source.batches[0], program(source.batches[1]),
                     source.batches[1]);
    const Machine machine =
        scale_to(find_preset("rtx2080ti"), find_preset("h200"), model.at(source.batches[0]));
    networks.push_back({source.name, std::move(model), machine, source.published});
  }
  return networks;
}

std::int64_t tight_batch(const HomeNetwork& network) {
  return find_largest_batch(network.model, network.machine, kHomeLimit, find_planner("keep"), {}).batch *
         143 / 100;
}

std::optional<JudgedPlan> plan_at(const HomeNetwork& network, std::int64_t batch, const std::string& planner,
                                  const PlannerOptions& options) {
  const Program program = network.model.at(batch);
  const Gaps gaps(program);
  JudgedPlan judged =
      plan_and_judge(find_planner(planner), {program, gaps, network.machine, kHomeLimit}, options);
  if (judged.infeasible) return std::nullopt;
  return judged;
}

double samples_per_second(std::int64_t batch, const JudgedPlan& judged) {
  return static_cast<double>(batch) * 1e9 / static_cast<double>(judged.step.step_time);
}

}  // namespace ebb::papers
