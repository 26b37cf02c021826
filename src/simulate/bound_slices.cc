#include <algorithm>
#include <map>

#include "simulate/bound_fluid.h"

namespace ebb {
namespace {

OpIndex wrap(OpIndex op, OpIndex n) { return ((op % n) + n) % n; }

// The gaps of one content, with the time base moved to the iteration of its write.
struct Content {
  OpIndex write = 0;
  std::vector<const Absence*> gaps;
};

OpIndex since_write(const Absence& gap) { return gap.from - gap.last_write; }

double best_rate(double sum, double time, double bytes, double all_bytes) {
  const double rate = time / bytes;
  return (all_bytes == bytes ? rate : std::min(rate, sum / (all_bytes - bytes))) * all_bytes;
}

}  // namespace

Checkpoints::Checkpoints(const std::vector<Bytes>& need, const std::vector<Nanoseconds>& op_time, int slices)
    : op_count_(static_cast<OpIndex>(need.size())) {
  std::vector<OpIndex> needy;
  Nanoseconds needy_time = 0;
  for (OpIndex i = 0; i < op_count_; ++i) {
    if (need[static_cast<std::size_t>(i)] <= 0) continue;
    needy.push_back(i);
    needy_time += op_time[static_cast<std::size_t>(i)];
  }
  std::vector<OpIndex> chosen = {0};
  if (static_cast<int>(needy.size()) <= slices) {
    chosen.insert(chosen.end(), needy.begin(), needy.end());
  } else {
    // Parts of equal compute time; a part longer than that by one op alone is a part of its own.
    Nanoseconds passed = 0;
    OpIndex best = kNoOp;
    std::int64_t part = 0;
    for (OpIndex i : needy) {
      const std::int64_t now =
          needy_time == 0 ? 0
                          : static_cast<std::int64_t>(static_cast<__int128>(passed) * slices / needy_time);
      if (now != part && best != kNoOp) {
        chosen.push_back(best);
        best = kNoOp;
      }
      part = now;
      if (best == kNoOp || need[static_cast<std::size_t>(i)] > need[static_cast<std::size_t>(best)]) best = i;
      passed += op_time[static_cast<std::size_t>(i)];
    }
    if (best != kNoOp) chosen.push_back(best);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  ops_ = std::move(chosen);
}

int Checkpoints::slice_of(OpIndex unrolled) const {
  const OpIndex op = wrap(unrolled, op_count_);
  const int iteration = (unrolled - op) / op_count_;
  return static_cast<int>(std::upper_bound(ops_.begin(), ops_.end(), op) - ops_.begin()) - 1 +
         iteration * count();
}

std::pair<int, int> Checkpoints::between(OpIndex from, OpIndex to) const {
  return {slice_of(from) + 1, slice_of(to - 1)};
}

Nanoseconds Checkpoints::compute_time(int slice, const std::vector<Nanoseconds>& op_time) const {
  const auto begin = static_cast<std::size_t>(ops_[static_cast<std::size_t>(slice)]);
  const std::size_t end = slice + 1 < count()
                              ? static_cast<std::size_t>(ops_[static_cast<std::size_t>(slice) + 1])
                              : op_time.size();
  Nanoseconds total = 0;
  for (std::size_t i = begin; i < end; ++i) total += op_time[i];
  return total;
}

std::vector<ContentClass> classify(const std::vector<const Absence*>& gaps, const BoundProblem& problem,
                                   const Checkpoints& points) {
  const OpIndex n = problem.program.op_count();
  // Never-written blocks share nothing between their gaps; other contents are known by block and write.
  std::map<std::pair<std::int64_t, OpIndex>, Content> contents;
  for (const Absence* gap : gaps) {
    const OpIndex write = wrap(gap->last_write, n);
    const std::int64_t owner = gap->has_host_copy ? -1 - gap->gap : gap->block;
    Content& content = contents[{owner, write}];
    content.write = write;
    content.gaps.push_back(gap);
  }
  std::map<std::vector<int>, ContentClass> classes;
  for (auto& [owner, content] : contents) {
    std::sort(content.gaps.begin(), content.gaps.end(),
              [](const Absence* a, const Absence* b) { return since_write(*a) < since_write(*b); });
    const Absence& first = *content.gaps.front();
    std::vector<int> key = {first.has_host_copy ? -1 : points.slice_of(content.write)};
    std::vector<ContentGap> ranges;
    for (const Absence* gap : content.gaps) {
      const OpIndex from = content.write + since_write(*gap);
      const auto [begin, end] = points.between(from, from + gap->to - gap->from);
      ranges.push_back({begin, end, gap->returns, {}});
      key.insert(key.end(), {begin, end, gap->returns});
    }
    ContentClass& joined = classes[key];
    if (joined.gaps.empty()) {
      joined.has_host_copy = first.has_host_copy;
      joined.write_slice = key.front();
      joined.gaps = std::move(ranges);
    }
    for (std::size_t i = 0; i < content.gaps.size(); ++i) joined.gaps[i].members.push_back(content.gaps[i]);
    const auto bytes = static_cast<double>(first.bytes);
    joined.bytes += bytes;
    joined.out_time =
        best_rate(joined.out_time, static_cast<double>(problem.machine.copy_out_time(first.bytes)), bytes,
                  joined.bytes);
    joined.in_time = best_rate(joined.in_time, static_cast<double>(problem.machine.copy_in_time(first.bytes)),
                               bytes, joined.bytes);
  }
  std::vector<ContentClass> result;
  result.reserve(classes.size());
  for (auto& [key, content] : classes) result.push_back(std::move(content));
  return result;
}

}  // namespace ebb
