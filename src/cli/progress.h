// A progress bar on stderr, for people who wait: only on a terminal, and only after two seconds.
#pragma once

#include <chrono>
#include <string>

#include "planners/planner.h"

namespace ebb::cli {

//   [==========>         ]  52 %  ebb at 70%: best 131.2 ms, 4096 plans
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // leaves an empty line behind
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(double fraction, const std::string& what);
  // Reports of a planner, as the share [from, to) of the whole.
  std::function<void(const PlanningProgress&)> follow(std::string what, double from, double to);

 private:
  using Clock = std::chrono::steady_clock;
  bool on_terminal_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace ebb::cli
