// Signs of life on stderr, for people who wait: only on a terminal, and only after two seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

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

// For work that cannot say how far it is: what is being done, and for how long.
//
//   pack: 18692 buffers … 4 s
class WaitingLine {
 public:
  // Writes to stderr if that is a terminal.
  explicit WaitingLine(std::string what);
  WaitingLine(std::string what, std::chrono::milliseconds patience, std::function<void(std::string)> write);
  ~WaitingLine();  // leaves an empty line behind if it wrote any
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

 private:
  void watch(std::chrono::milliseconds patience);

  std::string what_;
  std::function<void(std::string)> write_;
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace ebb::cli
