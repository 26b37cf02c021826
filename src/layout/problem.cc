#include "layout/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "trace/error.h"

namespace ebb::layout {
namespace {

constexpr Bytes kLargestSum = std::numeric_limits<Bytes>::max() / 4;
constexpr Time kLargestTime = std::numeric_limits<Time>::max() / 4;

void check_buffer(const Buffer& buffer, std::optional<Time> period, Bytes alignment) {
  if (buffer.size < 1) {
    throw InputError(fmt::format("buffer {}: size {} is not positive", buffer.id, buffer.size));
  }
  if (buffer.end <= buffer.begin) {
    throw InputError(fmt::format("buffer {}: lifetime [{}, {}) is empty or inverted", buffer.id, buffer.begin,
                                 buffer.end));
  }
  if (buffer.begin < -kLargestTime || buffer.end > kLargestTime) {
    throw InputError(
        fmt::format("buffer {}: lifetime [{}, {}) is out of range", buffer.id, buffer.begin, buffer.end));
  }
  if (period && (buffer.begin < 0 || buffer.begin >= *period || buffer.end - buffer.begin > *period)) {
    throw InputError(fmt::format("buffer {}: lifetime [{}, {}) does not lie on a ring of {}", buffer.id,
                                 buffer.begin, buffer.end, *period));
  }
  if (buffer.fixed && (*buffer.fixed < 0 || *buffer.fixed % alignment != 0)) {
    throw InputError(fmt::format("buffer {}: fixed offset {} is not a multiple of {}", buffer.id,
                                 *buffer.fixed, alignment));
  }
}

void check_ids(const Problem& problem) {
  std::vector<BufferId> ids;
  ids.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) ids.push_back(buffer.id);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) throw InputError(fmt::format("buffer {}: the id occurs twice", *twice));
}

void check_fixed(const Problem& problem, Bytes alignment) {
  std::vector<const Buffer*> fixed;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.fixed) fixed.push_back(&buffer);
  }
  std::sort(fixed.begin(), fixed.end(),
            [](const Buffer* a, const Buffer* b) { return *a->fixed < *b->fixed; });
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const Bytes top = *fixed[i]->fixed + round_up(fixed[i]->size, alignment);
    for (std::size_t k = i + 1; k < fixed.size() && *fixed[k]->fixed < top; ++k) {
      if (!overlap_in_time(*fixed[i], *fixed[k], problem.period)) continue;
      throw InputError(fmt::format("buffers {} and {}: fixed offsets {} and {} overlap", fixed[i]->id,
                                   fixed[k]->id, *fixed[i]->fixed, *fixed[k]->fixed));
    }
  }
}

}  // namespace

void check(const Problem& problem, Bytes alignment) {
  if (alignment < 1) throw InputError(fmt::format("alignment {} is not positive", alignment));
  if (problem.period && (*problem.period < 1 || *problem.period > kLargestTime)) {
    throw InputError(fmt::format("period {} is out of range", *problem.period));
  }
  Bytes room = kLargestSum;
  for (const Buffer& buffer : problem.buffers) {
    check_buffer(buffer, problem.period, alignment);
    const Bytes fixed = buffer.fixed.value_or(0);
    if (alignment > room || buffer.size > room - alignment || fixed > kLargestSum - buffer.size - alignment) {
      throw InputError(
          fmt::format("buffer {}: the sum of sizes overflows at {} bytes", buffer.id, buffer.size));
    }
    room -= round_up(buffer.size, alignment);
  }
  check_ids(problem);
  check_fixed(problem, alignment);
}

Bytes round_up(Bytes size, Bytes alignment) { return (size + alignment - 1) / alignment * alignment; }

Bytes peak_load(const Problem& problem, Bytes alignment) {
  std::vector<std::pair<Time, Bytes>> changes;  // frees sort before mallocs of the same time
  Bytes load = 0;
  for (const Buffer& buffer : problem.buffers) {
    const Bytes size = round_up(buffer.size, alignment);
    const bool wraps = problem.period && buffer.end > *problem.period;
    if (wraps) load += size;
    changes.emplace_back(buffer.begin, size);
    changes.emplace_back(wraps ? buffer.end - *problem.period : buffer.end, -size);
  }
  std::sort(changes.begin(), changes.end());
  Bytes peak = load;
  for (const auto& [time, change] : changes) peak = std::max(peak, load += change);
  return peak;
}

bool overlap_in_time(const Buffer& a, const Buffer& b, std::optional<Time> period) {
  const auto meet = [](const Buffer& x, const Buffer& y, Time shift) {
    return x.begin < y.end + shift && y.begin + shift < x.end;
  };
  if (meet(a, b, 0)) return true;
  return period && (meet(a, b, *period) || meet(a, b, -*period));
}

}  // namespace ebb::layout
