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
};

// One planner on one step and machine.
struct SurveyRow {
  std::vector<SurveyCell> cells;  // by limit
  double longest_planning = 0;    // CPU seconds
  int broken = 0;                 // plans that break a rule or the limit
};

class Survey {
 public:
  // With a file, every row is appended to it when it is measured, and what it holds is not measured again.
  // REQUIRES: names of planners; the same options as those the file was written with.
  explicit Survey(std::span<const char* const> names, PlannerOptions options = {}, std::string file = {});

  // Plans at every limit and judges, with every planner that has no row here yet.
  void add(const std::string& step, const Program& program, const Machine& machine);
  // For planners to whom the machine makes no difference.
  void copy_rows(const std::string& step, const std::string& from, const std::string& to,
                 std::span<const char* const> planners);

  const SurveyRow& row(const std::string& step, const std::string& machine,
                       const std::string& planner) const {
    return tables_.at({step, machine}).at(planner);
  }
  // All (step, machine) that were added.
  std::vector<std::pair<std::string, std::string>> tables() const;

  void print_tables() const;
  void print_counts() const;
  // `ours` against each of `others`, mean over the cells where both have a plan; only on `machine` if it is
  // given.
  void print_comparison(const std::string& ours, std::span<const char* const> others,
                        const std::string& machine = "") const;
  // The longest planning of each planner, on all steps and on each of these.
  void print_planning_times(std::span<const char* const> steps) const;
  // No plan breaks a rule or its limit.
  bool sound() const;

 private:
  SurveyRow measure(const Planner& planner, const Program& program, const Gaps& gaps,
                    const Machine& machine) const;
  void read();
  void write(const std::string& step, const std::string& machine, const std::string& planner) const;
  void print_table(const std::string& step, const std::string& machine) const;

  std::vector<const Planner*> planners_;
  const PlannerOptions options_;
  const std::string file_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, SurveyRow>> tables_;
};

// The step PATH.json.gz of ../shared/data; nothing if it is not there.
std::optional<Program> load_shared_step(const std::string& path);

}  // namespace ebb
