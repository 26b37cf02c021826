#include "cli/step_summary.h"

#include <algorithm>
#include <unordered_map>

#include "cli/table.h"
#include "plan/recipes.h"
#include "trace/lifetime.h"

namespace ebb::cli {
namespace {

template <typename Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

bool spans(const Gap& gap, OpIndex op, OpIndex n) {
  return (gap.from < op && op < gap.to) || (gap.from < op + n && op + n < gap.to);
}

// Shares by a key, listed in the order in which the keys first occur.
class Shares {
 public:
  Share& of(std::string_view name) {
    const auto [found, is_new] = index_.try_emplace(std::string(name), shares_.size());
    if (is_new) shares_.push_back({.name = std::string(name)});
    return shares_[found->second];
  }
  std::vector<Share> take() { return std::move(shares_); }

 private:
  std::vector<Share> shares_;
  std::unordered_map<std::string, std::size_t> index_;
};

std::vector<Share> shares_by(const Program& program, OpIndex peak, auto key_of) {
  Shares shares;
  for (const Op& op : program.ops()) {
    Share& share = shares.of(key_of(op));
    share.ops += 1;
    share.time += op.duration;
  }
  for (const Block& block : program.blocks())
    if (block.birth != kNoOp && alive_at(block, peak))
      shares.of(key_of(program.op(block.birth))).born += block.bytes;
  shares.of(key_of(program.op(peak))).workspace += program.op(peak).workspace;
  return shares.take();
}

void count_blocks(const Program& program, StepSummary& summary) {
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const Block& block = program.block(b);
    LifetimeSummary& lifetime = summary.lifetimes[index(block.lifetime)];
    ++lifetime.blocks;
    lifetime.bytes += block.bytes;
    if (block.lifetime == Lifetime::persistent) summary.persistent_at_peak += block.bytes;
    if (!program.managed(b)) continue;
    ++summary.managed.blocks;
    summary.managed.bytes += block.bytes;
  }
}

void find_peaks(const Program& program, StepSummary& summary) {
  const auto highest = std::max_element(program.load().begin(), program.load().end());
  summary.peak_load = *highest;
  summary.peak_load_op = static_cast<OpIndex>(highest - program.load().begin());
  summary.peak_op = program.peak_op();
  summary.peak_demand = program.peak_demand();
  summary.largest_need = largest_op_need(program);
}

// Time at which each op starts, two iterations of it.
std::vector<Nanoseconds> starts(const Program& program) {
  std::vector<Nanoseconds> starts{0};
  for (int iteration = 0; iteration < 2; ++iteration)
    for (const Op& op : program.ops()) starts.push_back(starts.back() + op.duration);
  return starts;
}

void look_at_gaps(const Program& program, const Gaps& gaps, std::size_t top, StepSummary& summary) {
  const std::vector<Recipe> recipes = find_recipes(program, gaps);
  const std::vector<Nanoseconds> start = starts(program);
  std::vector<GapSummary> all;
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    const Recipe& recipe = recipes[static_cast<std::size_t>(g)];
    const Bytes bytes = program.block(gap.block).bytes;
    ++summary.gaps[index(gap.kind)];
    const bool at_peak = spans(gap, summary.peak_op, program.op_count());
    if (at_peak) {
      IdleSummary& idle = summary.idle[index(gap.kind)];
      ++idle.gaps;
      idle.bytes += bytes;
      if (recipe.remakable) idle.recomputable += bytes;
    }
    all.push_back(
        {.gap = gap,
         .bytes = bytes,
         .idle = start[static_cast<std::size_t>(gap.to)] - start[static_cast<std::size_t>(gap.from) + 1],
         .spans_peak = at_peak,
         .recomputable = recipe.remakable,
         .recompute_time = recipe.duration});
  }
  const auto area = [](const GapSummary& gap) {
    return static_cast<double>(gap.bytes) * static_cast<double>(gap.idle);
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return area(a) > area(b); });
  all.resize(std::min(all.size(), top));
  summary.largest_gaps = std::move(all);
}

}  // namespace

StepSummary summarise(const Program& program, const Gaps& gaps, std::size_t top) {
  StepSummary summary;
  count_blocks(program, summary);
  find_peaks(program, summary);
  summary.phases = shares_by(program, summary.peak_op, [](const Op& op) { return name_of(op.phase); });
  summary.op_types =
      shares_by(program, summary.peak_op, [](const Op& op) -> std::string_view { return op.name; });
  const auto weight = [&](const Share& entry) {
    return std::max(
        share(static_cast<double>(entry.time), static_cast<double>(program.compute_time())),
        share(static_cast<double>(entry.born + entry.workspace), static_cast<double>(summary.peak_demand)));
  };
  std::stable_sort(summary.op_types.begin(), summary.op_types.end(),
                   [&](const Share& a, const Share& b) { return weight(a) > weight(b); });
  look_at_gaps(program, gaps, top, summary);
  return summary;
}

}  // namespace ebb::cli
