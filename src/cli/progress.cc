#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/table.h"
#include "machine/units.h"

namespace ebb::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kRefresh = std::chrono::milliseconds(100);
constexpr int kBarWidth = 24;
constexpr std::size_t kTextWidth = 44;

void write_to_stderr(const std::string& text) {
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
}

}  // namespace

ProgressBar::ProgressBar() : on_terminal_(::isatty(STDERR_FILENO) == 1), next_(Clock::now() + kPatience) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(double fraction, const std::string& what) {
  if (!on_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + kRefresh;
  drawn_ = true;
  const double done = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<int>(done * kBarWidth);
  fmt::print(stderr, "\r\033[K[{:=<{}}>{:<{}}] {:3.0f} %  {}", "", filled, "", kBarWidth - filled, 100 * done,
             shortened(what, kTextWidth));
  std::fflush(stderr);
}

std::function<void(const PlanningProgress&)> ProgressBar::follow(std::string what, double from, double to) {
  return [this, what = std::move(what), from, to](const PlanningProgress& progress) {
    std::string text = what;
    if (progress.best > 0) text += fmt::format(": best {}", format_time(progress.best));
    if (progress.evaluations > 0) text += fmt::format(", {} plans", progress.evaluations);
    show(from + (to - from) * progress.fraction, text);
  };
}

WaitingLine::WaitingLine(std::string what) : what_(std::move(what)), write_(write_to_stderr) {
  if (::isatty(STDERR_FILENO) == 1) watcher_ = std::thread([this] { watch(kPatience); });
}

WaitingLine::WaitingLine(std::string what, std::chrono::milliseconds patience,
                         std::function<void(std::string)> write)
    : what_(std::move(what)), write_(std::move(write)), watcher_([this, patience] { watch(patience); }) {}

WaitingLine::~WaitingLine() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  done_changed_.notify_all();
  watcher_.join();
}

void WaitingLine::watch(std::chrono::milliseconds patience) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (done_changed_.wait_for(lock, patience, [&] { return done_; })) return;
  do {
    const auto waited = std::chrono::steady_clock::now() - start;
    write_(fmt::format("\r\033[K{} … {} s", shortened(what_, kTextWidth),
                       std::chrono::duration_cast<std::chrono::seconds>(waited).count()));
  } while (!done_changed_.wait_for(lock, kRefresh, [&] { return done_; }));
  write_("\r\033[K");
}

}  // namespace ebb::cli
