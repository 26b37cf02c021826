// Every planner that only swaps, on every recorded step, three machines and seven limits: step times,
// planning times, and whether what the papers claim holds. The same numbers as `ebb compare` prints.
#include <fmt/format.h>

#include "machine/presets.h"
#include "survey.h"

namespace {

using namespace ebb;

constexpr const char* kSteps[] = {"densenet121", "gpt2", "lstm", "mobilenet_v2", "resnet50", "unet", "vgg16"};
constexpr const char* kMachines[] = {"h200", "v100-pcie3", "a100-15.75"};
constexpr const char* kScores[] = {"autoswap-doa", "autoswap-aoa", "autoswap-wdoa", "autoswap-swdoa"};
constexpr const char* kNames[] = {"ondemand",       "autoswap-doa", "autoswap-aoa",   "autoswap-wdoa",
                                  "autoswap-swdoa", "autoswap-bo",  "greedy",         "dynprog",
                                  "vdnn",           "vdnn++",       "vdnn-threshold", "tflms",
                                  "geeps",          "excess-area"};

void print_mix(const Survey& survey) {
  int compared = 0, slower = 0;
  for (const auto& [step, machine] : survey.tables())
    for (std::size_t k = 0; k < std::size(kSurveyPercents); ++k) {
      double best = 0;
      for (const char* score : kScores) {
        const double ratio = survey.row(step, machine, score).cells[k].ratio;
        if (ratio > 0 && (best == 0 || ratio < best)) best = ratio;
      }
      if (best == 0) continue;
      ++compared;
      const double mix = survey.row(step, machine, "autoswap-bo").cells[k].ratio;
      slower += mix == 0 || mix > best ? 1 : 0;
    }
  fmt::print(
      "- autoswap-bo is not slower than the best of the four scores in {} of {} cells where one has a "
      "plan.\n",
      compared - slower, compared);
}

}  // namespace

int main() {
  Survey survey(kNames);
  for (const char* step : kSteps) {
    const auto program = load_shared_step(std::string("traces/") + step);
    if (!program) return 0;
    for (const char* machine : kMachines) survey.add(step, *program, find_preset(machine));
  }
  survey.print_tables();
  fmt::print("\n## Claims\n");
  survey.print_counts();
  print_mix(survey);
  survey.print_comparison("dynprog", kNames);
  survey.print_planning_times(kSteps);
  return survey.sound() ? 0 : 1;
}
