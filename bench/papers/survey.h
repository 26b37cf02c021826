// Planners side by side on recorded steps: a table per step and machine with the reasons where there is no
// plan, who is slower than whom on average, and how long planning took.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planners/planner.h"

namespace ebb {

inline constexpr int kSurveyPercents[] = {90, 80, 70, 60, 50, 40, 30};  // of the peak demand

struct SurveyCell {
  double ratio = 0;  // step time ÷ plain step; 0: no plan
  std::string reason;
  bool operator==(const SurveyCell&) const = default;
};

class Survey {
 public:
  using Row = std::vector<SurveyCell>;  // by limit

  // REQUIRES: names of planners.
  explicit Survey(std::span<const char* const> names, PlannerOptions options = {});

  // Plans at every limit, judges, and prints the table.
  void add(const std::string& step, const Program& program, const Machine& machine);

  const Row& row(const std::string& step, const std::string& machine, const std::string& planner) const {
    return tables_.at({step, machine}).at(planner);
  }
  // All (step, machine) that were added.
  std::vector<std::pair<std::string, std::string>> tables() const;

  void print_counts() const;
  // `ours` against each of `others`, mean over the cells where both have a plan; only on `machine` if it is
  // given.
  void print_comparison(const std::string& ours, std::span<const char* const> others,
                        const std::string& machine = "") const;
  // The longest planning of each planner, on all steps and on each of these.
  void print_planning_times(std::span<const char* const> steps) const;
  // No plan breaks a rule or its limit.
  bool sound() const { return broken_ == 0; }

 private:
  SurveyCell measure(const std::string& step, const Planner& planner, const PlanningProblem& problem);
  void print_table(const std::string& step, const std::string& machine) const;

  std::vector<const Planner*> planners_;
  const PlannerOptions options_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Row>> tables_;
  std::map<std::pair<std::string, std::string>, double> seconds_;  // by planner and step ("": all)
  int cells_ = 0, plans_ = 0, broken_ = 0;
};

// The step FOLDER/NAME.json.gz of ../shared/data; nothing if it is not there.
std::optional<Program> load_shared_step(const std::string& path);

}  // namespace ebb
