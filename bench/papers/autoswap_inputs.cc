#include "autoswap_inputs.h"

#include <fmt/format.h>

#include <cmath>

#include "machine/presets.h"
#include "machine/scale.h"
#include "trace/load.h"

namespace ebb::papers {

namespace fs = std::filesystem;

const std::vector<SpNetwork>& sp_networks() {
  static const std::vector<SpNetwork> networks = {
      {"ResNet18", "sp-resnet18-cifar-b100", 359 / 1.83, 1452, 1152},
      {"ResNet34", "sp-resnet34-cifar-b100", 684 / 1.85, 2824, 2124},
      {"ResNet50", "sp-resnet50-cifar-b100", 993 / 1.88, 4418, 2906},
      {"VGG11", "sp-vgg11-cifar-b100", 76 / 1.75, 389, 284},
      {"VGG13", "sp-vgg13-cifar-b100", 94 / 1.71, 509, 360},
      {"VGG16", "sp-vgg16-cifar-b100", 122 / 1.73, 647, 447},
      {"VGG19", "sp-vgg19-cifar-b100", 162 / 1.94, 785, 561},
  };
  return networks;
}

std::optional<fs::path> find_traces() {
  const fs::path folder = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "traces";
  if (fs::exists(folder)) return folder;
  fmt::print("skipped: ../shared/data/traces is not there\n");
  return std::nullopt;
}

SpStep load_sp_step(const fs::path& traces, const SpNetwork& network) {
  Program program = load_program((traces / "papers" / (network.trace + ".json.gz")).string());
  Gaps gaps(program);
  const Machine scaled = scale_to(find_preset("gtx1080ti"), find_preset("h200"), program);
  Machine machine =
      match_step_time(scaled, program, static_cast<Nanoseconds>(std::llround(network.step_ms * 1e6)));
  return {network, std::move(program), std::move(gaps), std::move(machine)};
}

fs::path pictures() { return fs::path(EBB_SOURCE_DIR) / "bench" / "results"; }

double overhead_percent(const JudgedPlan& judged) {
  return judged.infeasible ? HUGE_VAL : 100 * (judged.step.ratio() - 1);
}

double mebibytes(Bytes bytes) { return static_cast<double>(bytes) / static_cast<double>(kMiB); }

double milliseconds(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

double finding(const JudgedPlan& judged, std::string_view name) {
  for (const Finding& finding : judged.findings)
    if (finding.name == name) return finding.value;
  return 0;
}

}  // namespace ebb::papers
