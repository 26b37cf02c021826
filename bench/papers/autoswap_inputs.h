// [SP]'s networks on [SP]'s machine: the recorded steps, each scaled to the step time that the paper prints.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "planners/judge.h"

namespace ebb::papers {

// [SP] tables I and II. Step time: cudaMalloc's time per iteration divided by SmartPool's speed-up.
struct SpNetwork {
  std::string name;
  std::string trace;
  double step_ms = 0;
  double load_mb = 0;
  double reduced_load_mb = 0;
};
const std::vector<SpNetwork>& sp_networks();

// A step and the paper's GTX 1080 Ti, whose ops are slowed down by kind and then to the paper's step time.
struct SpStep {
  SpNetwork network;
  Program program;
  Gaps gaps;
  Machine machine;

  PlanningProblem at(Bytes limit) const { return {program, gaps, machine, limit}; }
};

// ../shared/data/traces, or nothing and a line that says so if it is not there.
std::optional<std::filesystem::path> find_traces();
SpStep load_sp_step(const std::filesystem::path& traces, const SpNetwork& network);
// Where pictures go: bench/results beside the sources.
std::filesystem::path pictures();

// In percent of the plain step; infinite if there is no plan.
double overhead_percent(const JudgedPlan& judged);
double mebibytes(Bytes bytes);
double milliseconds(Nanoseconds time);
// The value of a finding of a plan, or 0.
double finding(const JudgedPlan& judged, std::string_view name);

}  // namespace ebb::papers
