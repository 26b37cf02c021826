#include "plan/host_copies.h"

#include <algorithm>

namespace ebb {

HostCopies::HostCopies(const Program& program, const Gaps& gaps) : program_(program), gaps_(gaps) {
  last_write_.assign(static_cast<std::size_t>(gaps.count()), kNeverWritten);
  std::vector<OpIndex> writes;
  for (BlockId b = 0; b < program.block_count(); ++b) {
    if (gaps.first(b) == gaps.last(b)) continue;
    writes.clear();
    for (const BlockAccess& access : program.accesses(b))
      if (access.writes) writes.push_back(access.op);
    for (GapId g = gaps.first(b); g < gaps.last(b); ++g)
      last_write_[static_cast<std::size_t>(g)] = find_last_write(gaps[g], writes);
  }
}

OpIndex HostCopies::find_last_write(const Gap& gap, const std::vector<OpIndex>& writes) const {
  const OpIndex n = program_.op_count();
  const Block& block = program_.block(gap.block);
  const bool wraps = block.lifetime == Lifetime::wrapping;
  const bool old_instance = wraps && gap.from <= block.death;  // born in the iteration before
  // Writes of this instance, in this iteration: from its birth, or from op 0.
  const OpIndex begin = wraps && !old_instance ? block.birth : 0;
  const auto after = std::upper_bound(writes.begin(), writes.end(), gap.from);
  if (after != writes.begin() && *std::prev(after) >= begin) return *std::prev(after);
  const bool came_before = block.lifetime == Lifetime::persistent || old_instance;
  if (came_before && after != writes.end() && (!wraps || writes.back() >= block.birth))
    return writes.back() - n;
  if (block.lifetime == Lifetime::persistent) return kNeverWritten;
  return block.birth - (old_instance ? n : 0);
}

OpIndex HostCopies::local_from(GapId g) const {
  const Block& block = program_.block(gaps_[g].block);
  const bool next_iteration = block.lifetime == Lifetime::wrapping && gaps_[g].from <= block.death;
  return gaps_[g].from + (next_iteration ? program_.op_count() : 0);
}

bool HostCopies::present_since(const Plan& plan, GapId g, OpIndex op) const {
  const BlockId block = gaps_[g].block;
  const OpIndex shift = local_from(g) - gaps_[g].from;
  // A block's gaps ascend in its own time: going back, the first that ends by `op` is the last to look at.
  auto present = [&](GapId begin, GapId end, OpIndex back) {
    for (GapId other = end; other-- > begin;) {
      const OpIndex to = local_from(other) - shift - back + gaps_[other].to - gaps_[other].from;
      if (to <= op) break;
      if (other != g && plan[other].action != Action::keep) return false;
    }
    return true;
  };
  const bool cyclic = program_.block(block).lifetime == Lifetime::persistent;
  return present(gaps_.first(block), g, 0) &&
         (!cyclic || present(gaps_.first(block), gaps_.last(block), program_.op_count()));
}

void HostCopies::resolve(const Plan& plan, std::vector<Swap>& swaps) const {
  for (std::size_t i = 0; i < swaps.size();) {
    std::size_t end = i;
    while (end < swaps.size() && swaps[end].block == swaps[i].block) ++end;
    const bool cyclic = program_.block(swaps[i].block).lifetime == Lifetime::persistent;
    // `copied`: the local time at which the host last got a copy.
    OpIndex copied = cyclic ? local_from(swaps[end - 1].gap) - program_.op_count() : kAuto;
    for (; i < end; ++i) {
      Swap& swap = swaps[i];
      const OpIndex write = last_write(swap.gap);
      const OpIndex shift = local_from(swap.gap) - gaps_[swap.gap].from;
      swap.clean = write == kNeverWritten || (copied != kAuto && copied >= write + shift);
      copied = local_from(swap.gap);
      swap.out_after = plan[swap.gap].out_after;
      if (swap.out_after != kAuto) continue;
      const OpIndex from = gaps_[swap.gap].from;
      swap.out_after = !swap.clean && present_since(plan, swap.gap, write) ? write : from;
    }
  }
}

Bytes HostCopies::peak(const std::vector<Swap>& swaps) const {
  const auto n = static_cast<std::size_t>(program_.op_count());
  std::vector<Bytes> change(2 * n + 2, 0);
  Bytes always = 0;
  for (std::size_t first = 0, last = 0; first < swaps.size(); first = last) {
    while (last < swaps.size() && swaps[last].block == swaps[first].block) ++last;
    if (last_write(swaps[first].gap) == kNeverWritten) {
      always += swaps[first].bytes;
      continue;
    }
    for (std::size_t i = first; i < last; ++i) {
      if (swaps[i].clean) continue;  // counted with the copy-out it lives on
      const OpIndex start = std::max(gaps_[swaps[i].gap].from, swaps[i].out_after);
      const OpIndex end = std::min(last_return(swaps, i, first, last), start + program_.op_count());
      change[static_cast<std::size_t>(start)] += swaps[i].bytes;
      change[static_cast<std::size_t>(end)] -= swaps[i].bytes;
    }
  }
  std::vector<Bytes> held(2 * n + 1);
  Bytes now = 0;
  for (std::size_t j = 0; j < held.size(); ++j) held[j] = now += change[j];
  Bytes peak = 0;
  for (std::size_t j = 0; j < n; ++j) peak = std::max(peak, held[j] + held[j + n]);
  return peak + always;
}

OpIndex HostCopies::last_return(const std::vector<Swap>& swaps, std::size_t copied, std::size_t first,
                                std::size_t last) const {
  OpIndex end = swaps[copied].needed_at;
  const std::size_t count = last - first;
  for (std::size_t k = 1; k < count; ++k) {
    const Swap& next = swaps[first + (copied - first + k) % count];
    if (!next.clean) break;
    const bool later_iteration = gaps_[next.gap].from < gaps_[swaps[copied].gap].from;
    end = std::max(end, next.needed_at + (later_iteration ? program_.op_count() : 0));
  }
  return end;
}

}  // namespace ebb
