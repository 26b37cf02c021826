#include "backend/measure.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace ebb {
namespace {

constexpr Bytes kSmallCopy = 4096;
constexpr Bytes kPage = 4096;
constexpr int kPlaces = 4;  // copies of one direction go round this many places
constexpr Bytes kBeyondCaches = 128 * kMiB;
constexpr int kMostRounds = 400;  // of compute beside copies

class Measurement {
 public:
  Measurement(Backend& backend, const MeasureOptions& options) : backend_(backend), options_(options) {
    // Each direction and compute has a part of the device of its own.
    device_ = backend.reserve(2 * kPlaces * options.copy + compute_part());
    const Bytes bytes = 2 * kPlaces * options.copy;
    const auto begin = std::chrono::steady_clock::now();
    host_ = backend.host_slab(bytes);
    for (Bytes at = 0; at < bytes; at += kPage) host_[at] = std::byte{1};
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    result_.pin_seconds_per_gib = took.count() * static_cast<double>(kGiB) / static_cast<double>(bytes);
  }

  LinkMeasurement run() {
    for (const Engine engine : {Engine::out, Engine::in, Engine::compute}) rate_of(engine);  // warm
    result_.rate_out = rate_of(Engine::out);
    result_.rate_in = rate_of(Engine::in);
    result_.rate_both = std::min(rate_of_both(), result_.rate_out + result_.rate_in);
    result_.latency_out = latency_of(Engine::out);
    result_.latency_in = latency_of(Engine::in);
    rounds_ = rounds_beside_copies();
    const double alone = compute_time(false, false);
    result_.memory_rate = static_cast<double>(rounds_) * static_cast<double>(compute_part()) * 1e9 / alone;
    result_.stretch_out = std::max(1.0, compute_time(true, false) / alone);
    result_.stretch_in = std::max(1.0, compute_time(false, true) / alone);
    result_.stretch_both =
        std::max({compute_time(true, true) / alone, result_.stretch_out, result_.stretch_in});
    return result_;
  }

 private:
  Bytes compute_part() const { return std::max(kPlaces * options_.copy, kBeyondCaches); }

  void enqueue(Engine engine, int i, Bytes bytes) {
    const Bytes place = i % kPlaces * options_.copy;
    const Bytes part = kPlaces * options_.copy;
    if (engine == Engine::out) {
      backend_.copy(engine, host_ + place, device_ + place, bytes);
    } else if (engine == Engine::in) {
      backend_.copy(engine, device_ + part + place, host_ + part + place, bytes);
    } else {
      const Bytes half = compute_part() / 2;
      backend_.copy(engine, device_ + 2 * part, device_ + 2 * part + half, half);
    }
  }

  Nanoseconds time_of(Engine engine, int copies) {
    const Event begin = backend_.record(engine, Stamp::time);
    for (int i = 0; i < copies; ++i) enqueue(engine, i, options_.copy);
    const Event end = backend_.record(engine, Stamp::time);
    backend_.synchronize(end);
    return backend_.elapsed(begin, end);
  }

  double rate_of(Engine engine) {
    return bytes_per_second(options_.copies, time_of(engine, options_.copies));
  }

  // From a common start to the end of the direction that is done first.
  double rate_of_both() {
    const Event begin = backend_.record(Engine::out, Stamp::time);
    backend_.wait(Engine::in, begin);
    std::vector<Event> ends;
    Event last_out = begin, last_in = begin;
    for (int i = 0; i < options_.copies; ++i) {
      enqueue(Engine::out, i, options_.copy);
      ends.push_back(last_out = backend_.record(Engine::out, Stamp::time));
      enqueue(Engine::in, i, options_.copy);
      ends.push_back(last_in = backend_.record(Engine::in, Stamp::time));
    }
    backend_.synchronize(last_out);
    backend_.synchronize(last_in);
    const Nanoseconds both = std::min(backend_.elapsed(begin, last_out), backend_.elapsed(begin, last_in));
    const auto done = std::count_if(ends.begin(), ends.end(),
                                    [&](Event end) { return backend_.elapsed(begin, end) <= both; });
    return bytes_per_second(static_cast<int>(done), both);
  }

  Nanoseconds latency_of(Engine engine) {
    const Nanoseconds copy = median([&](int i) { enqueue(engine, i, kSmallCopy); }, engine);
    const Nanoseconds nothing = median([](int) {}, engine);
    return std::max<Nanoseconds>(0, copy - nothing);
  }

  template <typename Between>
  Nanoseconds median(Between between, Engine engine) {
    std::vector<Nanoseconds> times;
    for (int i = 0; i < options_.small_copies; ++i) {
      const Event begin = backend_.record(engine, Stamp::time);
      between(i);
      const Event end = backend_.record(engine, Stamp::time);
      backend_.synchronize(end);
      times.push_back(backend_.elapsed(begin, end));
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  // Compute for about as long as the links are busy in `compute_time`, a little less.
  int rounds_beside_copies() {
    const double round = std::max(1.0, static_cast<double>(time_of(Engine::compute, kPlaces)) / kPlaces);
    const double rate = std::max({result_.rate_out, result_.rate_in, 1.0});
    const double busy = options_.copies * static_cast<double>(options_.copy) * 1e9 / rate;
    return static_cast<int>(std::clamp(0.7 * busy / round, 1.0 * kPlaces, 1.0 * kMostRounds));
  }

  // The links get enough to do to be busy until compute is done; the median of a few attempts.
  double compute_time(bool out, bool in) {
    std::vector<double> times;
    for (int attempt = 0; attempt < 5; ++attempt) {
      Event last_out = kHappened, last_in = kHappened;
      for (int i = 0; i < options_.copies; ++i) {
        if (out) enqueue(Engine::out, i, options_.copy);
        if (in) enqueue(Engine::in, i, options_.copy);
      }
      if (out) last_out = backend_.record(Engine::out);
      if (in) last_in = backend_.record(Engine::in);
      times.push_back(static_cast<double>(time_of(Engine::compute, rounds_)));
      backend_.synchronize(last_out);
      backend_.synchronize(last_in);
    }
    std::sort(times.begin(), times.end());
    return std::max(1.0, times[times.size() / 2]);
  }

  double bytes_per_second(int copies, Nanoseconds time) const {
    return static_cast<double>(copies) * static_cast<double>(options_.copy) * 1e9 /
           static_cast<double>(std::max<Nanoseconds>(1, time));
  }

  Backend& backend_;
  const MeasureOptions options_;
  std::byte* device_ = nullptr;
  std::byte* host_ = nullptr;
  int rounds_ = kPlaces;
  LinkMeasurement result_;
};

}  // namespace

LinkMeasurement measure_link(Backend& backend, const MeasureOptions& options) {
  return Measurement(backend, options).run();
}

}  // namespace ebb
