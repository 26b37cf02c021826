#include "trace/periodic_run.h"

#include <algorithm>
#include <unordered_set>

namespace ebb {
namespace {

// z[i] = length of the longest common prefix of the sequence and its rest from i on (Gusfield's Z function).
template <typename At>
std::vector<std::uint32_t> z_function(std::size_t size, At at) {
  std::vector<std::uint32_t> z(size, 0);
  std::size_t left = 0, right = 0;
  for (std::size_t i = 1; i < size; ++i) {
    std::size_t match = i < right ? std::min<std::size_t>(z[i - left], right - i) : 0;
    while (i + match < size && at(match) == at(i + match)) ++match;
    z[i] = static_cast<std::uint32_t>(match);
    if (i + match > right) {
      left = i;
      right = i + match;
    }
  }
  return z;
}

// Hash of the last `width` values that went in: Σ value · base^age.
class WindowHash {
 public:
  explicit WindowHash(std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) top_ *= kBase;
  }
  void add(std::uint64_t entering) { hash_ = hash_ * kBase + entering; }
  void add(std::uint64_t entering, std::uint64_t leaving) {
    hash_ = hash_ * kBase + entering - leaving * top_;
  }
  std::uint64_t value() const { return hash_; }

 private:
  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15u;
  std::uint64_t hash_ = 0;
  std::uint64_t top_ = 1;
};

}  // namespace

std::vector<PeriodicRun> runs_at_end(std::span<const std::uint64_t> values, std::size_t repeats,
                                     std::size_t most) {
  const std::size_t size = values.size();
  if (size == 0) return {};
  const std::uint64_t* last = values.data() + size - 1;
  const auto z = z_function(size, [last](std::size_t i) { return *(last - i); });
  std::vector<PeriodicRun> runs;
  for (std::size_t period = 1; period <= size / repeats; ++period) {
    const std::size_t length = period + (period < size ? z[period] : 0);
    if (length >= repeats * period) runs.push_back({.begin = size - length, .end = size, .period = period});
  }
  const auto before = [](const PeriodicRun& a, const PeriodicRun& b) {
    return a.length() != b.length() ? a.length() > b.length() : a.period < b.period;
  };
  const std::size_t kept = std::min(most, runs.size());
  std::partial_sort(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(kept), runs.end(), before);
  runs.resize(kept);
  return runs;
}

PeriodicRun extend_right(std::span<const std::uint64_t> values, PeriodicRun run) {
  while (run.end < values.size() && values[run.end] == values[run.end - run.period]) ++run.end;
  return run;
}

bool occurs_in_cycle(std::span<const std::uint64_t> pattern, std::span<const std::uint64_t> cycle) {
  const std::size_t size = pattern.size();
  if (size == 0) return true;
  std::vector<std::uint64_t> joined(pattern.begin(), pattern.end());
  for (std::size_t i = 0; i < cycle.size() + size - 1; ++i) joined.push_back(cycle[i % cycle.size()]);
  const auto z = z_function(joined.size(), [&joined](std::size_t i) { return joined[i]; });
  return std::any_of(z.begin() + static_cast<std::ptrdiff_t>(size), z.end(),
                     [size](std::uint32_t match) { return match >= size; });
}

CycleCover cover_by_cycle(std::span<const std::uint64_t> values, std::span<const std::uint64_t> cycle) {
  const std::size_t width = cycle.size();
  CycleCover cover;
  if (values.size() < width) return cover;
  std::unordered_set<std::uint64_t> turns;
  WindowHash turn(width), window(width);
  for (std::uint64_t value : cycle) turn.add(value);
  for (std::uint64_t value : cycle) {
    turns.insert(turn.value());
    turn.add(value, value);
  }
  std::size_t covered_to = 0;
  for (std::size_t end = 1; end <= values.size(); ++end) {
    if (end <= width)
      window.add(values[end - 1]);
    else
      window.add(values[end - 1], values[end - 1 - width]);
    if (end < width || !turns.contains(window.value())) continue;
    cover.covered += end - std::max(covered_to, end - width);
    covered_to = end;
  }
  cover.reaches_end = covered_to == values.size();
  return cover;
}

}  // namespace ebb
