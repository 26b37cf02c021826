// [HOME]'s networks on [HOME]'s machine, at any batch size: two recorded steps each, drawn on as straight
// lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planners/judge.h"
#include "trace/batch_model.h"

namespace ebb::papers {

// [HOME] tables 2 and 3: PyTorch, Capuchin, HOME.
struct HomePublished {
  std::int64_t batch[3] = {};
  double throughput[3] = {};  // samples per second
  double search_seconds = 0;
  double evaluation_ms = 0;
};

struct HomeNetwork {
  std::string name;
  BatchModel model;
  Machine machine;  // an RTX 2080 Ti; op times scaled from the H200 by kind
  HomePublished published;
};

inline constexpr Bytes kHomeLimit = 11 * kGiB;

// MobileNet, Plain20, VGG16 and ResNet; empty, with a line that says why, if the recordings are not there.
// SqueezeNet and InceptionV3 were not recorded.
std::vector<HomeNetwork> load_home_networks();

// 1.43 times the largest batch that fits as it is, as in the paper's fig. 7 (VGG16 at 3950, 2759 as it is).
// Ours differs from the paper's: less workspace, no cached segments.
std::int64_t tight_batch(const HomeNetwork& network);

// One planner at one batch; nothing if it does not fit.
std::optional<JudgedPlan> plan_at(const HomeNetwork& network, std::int64_t batch, const std::string& planner,
                                  const PlannerOptions& options);
double samples_per_second(std::int64_t batch, const JudgedPlan& judged);

}  // namespace ebb::papers
