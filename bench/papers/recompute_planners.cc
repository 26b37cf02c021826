// Every planner that recomputes, and those that mix, on every recorded step and op graph, two machines and
// seven limits: step times, planning times, and whether what the papers claim holds.
// Usage: paper_recompute_planners [SIMULATIONS [FILE [STEP…]]]: home may spend so many on a plan; 0: its
// default. What was measured goes to FILE and is not measured again; with STEPs only these are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "machine/presets.h"
#include "survey.h"

namespace {

using namespace ebb;

constexpr const char* kSteps[] = {"resnet50", "vgg16", "densenet121", "mobilenet_v2", "gpt2", "unet", "lstm"};
constexpr const char* kGraphs[] = {"dtr-resnet32", "dtr-transformer", "dtr-lstm", "g10-BERT_Base_256",
                                   "g10-VIT_1280"};
constexpr const char* kMachines[] = {"h200", "v100-pcie3"};
constexpr const char* kNames[] = {"sublinear",
                                  "sublinear-cost",
                                  "checkpoint-sqrt",
                                  "recursive",
                                  "drop-cheap",
                                  "dtr",
                                  "dtr-eq",
                                  "dtr-local",
                                  "superneurons-swap",
                                  "superneurons-recompute",
                                  "vdnn",
                                  "superneurons",
                                  "capuchin",
                                  "home"};
// They copy nothing, so that a machine's links make no difference to them.
constexpr const char* kCopyNothing[] = {"sublinear", "sublinear-cost", "checkpoint-sqrt",
                                        "recursive", "drop-cheap",     "dtr",
                                        "dtr-eq",    "dtr-local",      "superneurons-recompute"};
constexpr const char* kTimed[] = {"resnet50", "gpt2"};

// The best of DTR's three heuristics in a prototype of its authors' rules, on their logs (dtr-*).
struct Reference {
  const char* log;
  int percent;
  double ratio;
};
constexpr Reference kDtr[] = {{"dtr-resnet32", 90, 1.0131},    {"dtr-resnet32", 70, 1.0463},
                              {"dtr-resnet32", 50, 1.1068},    {"dtr-resnet32", 30, 1.1782},
                              {"dtr-transformer", 90, 1.0090}, {"dtr-transformer", 70, 1.0314},
                              {"dtr-transformer", 50, 1.0584}, {"dtr-transformer", 30, 1.1234}};

std::size_t index_of(int percent) {
  return static_cast<std::size_t>(std::find(std::begin(kSurveyPercents), std::end(kSurveyPercents), percent) -
                                  std::begin(kSurveyPercents));
}

void print_dtr(const Survey& survey) {
  fmt::print(
      "\nRecomputation only, the best of dtr, dtr-eq and dtr-local, beside a prototype's:\n\n"
      "| log | limit | ours | the prototype's | difference | within 0.01 |\n|---|---:|---:|---:|---:|---|\n");
  for (const Reference& reference : kDtr) {
    double best = INFINITY;
    for (const char* name : {"dtr", "dtr-eq", "dtr-local"})
      if (const double ratio =
              survey.row(reference.log, "h200", name).cells[index_of(reference.percent)].ratio;
          ratio > 0)
        best = std::min(best, ratio);
    fmt::print("| {} | {} % | {:.4f} | {:.4f} | {:+.4f} | {} |\n", reference.log, reference.percent, best,
               reference.ratio, best - reference.ratio, best <= reference.ratio + 0.01 ? "yes" : "**no**");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const PlannerOptions options{.evaluations = argc > 1 ? std::stoll(argv[1]) : 0};
  const std::vector<std::string> wanted(argv + std::min(argc, 3), argv + argc);
  Survey survey(kNames, options, argc > 2 ? argv[2] : "");
  for (const auto& [folder, steps] :
       {std::pair<std::string, std::span<const char* const>>{"graphs/", kGraphs}, {"traces/", kSteps}})
    for (const char* step : steps) {
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), step) == wanted.end()) continue;
      const auto program = load_shared_step(folder + step);
      if (!program) return 0;
      survey.add(step, *program, find_preset("h200"));
      survey.copy_rows(step, "h200", "v100-pcie3", kCopyNothing);
      survey.add(step, *program, find_preset("v100-pcie3"));
    }
  if (!wanted.empty()) return 0;
  survey.print_tables();
  fmt::print("\n## Claims\n");
  survey.print_counts();
  for (const char* machine : kMachines) survey.print_comparison("home", kNames, machine);
  print_dtr(survey);
  survey.print_planning_times(kTimed);
  return survey.sound() ? 0 : 1;
}
