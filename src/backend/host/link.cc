#include "backend/host/link.h"

#include <chrono>
#include <cmath>

#include "backend/host/event_book.h"

namespace ebb {
namespace {

// Long enough for a sleeper to be woken in time on an idle core, short enough not to be felt on a busy one.
constexpr Nanoseconds kSpin = 50'000;

std::chrono::steady_clock::time_point time_point(Nanoseconds time) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(time));
}

std::int64_t stretch_of(const LinkOptions& options) {
  if (options.bytes_per_second_both <= 0) return kUnstretched;
  if (options.bytes_per_second_out <= 0 || options.bytes_per_second_in <= 0)
    throw BackendError("link: a cap on both directions needs the bandwidth of each");
  const double sum =
      static_cast<double>(options.bytes_per_second_out) + static_cast<double>(options.bytes_per_second_in);
  const double stretch =
      std::ceil(sum / static_cast<double>(options.bytes_per_second_both) * double{kUnstretched});
  return std::max(kUnstretched, static_cast<std::int64_t>(stretch));
}

}  // namespace

Link::Link(const LinkOptions& options) : options_(options), both_stretch_(stretch_of(options)) {}

Nanoseconds Link::copy_time(Engine direction, Bytes bytes) const {
  const bool out = direction == Engine::out;
  const Bytes per_second = out ? options_.bytes_per_second_out : options_.bytes_per_second_in;
  const Nanoseconds latency = out ? options_.latency_out : options_.latency_in;
  if (per_second <= 0) return latency;
  const double seconds = static_cast<double>(bytes) / static_cast<double>(per_second);
  return latency + static_cast<Nanoseconds>(std::ceil(seconds * 1e9));
}

void Link::start(Engine direction, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = steady_now();
  Task& other = other_than(direction);
  task_of(direction).start(now, copy_time(direction, bytes), other.active ? both_stretch_ : kUnstretched);
  other.change(now, both_stretch_);
  // The other's end only moved back: its thread finds out when it wakes.
}

void Link::finish(Engine direction) {
  std::unique_lock lock(mutex_);
  Task& task = task_of(direction);
  while (steady_now() < task.end) {
    const Nanoseconds end = task.end;
    if (end - steady_now() > kSpin) {
      ends_changed_.wait_until(lock, time_point(end - kSpin));
    } else {
      lock.unlock();
      while (steady_now() < end) {
      }
      lock.lock();
    }
  }
  task.active = false;
  other_than(direction).change(steady_now(), kUnstretched);
  lock.unlock();
  ends_changed_.notify_all();
}

Task& Link::task_of(Engine direction) { return direction == Engine::out ? out_ : in_; }
Task& Link::other_than(Engine direction) { return direction == Engine::out ? in_ : out_; }

}  // namespace ebb
