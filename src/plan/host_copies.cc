#include "plan/host_copies.h"

#include <algorithm>

namespace ebb {

HostCopies::HostCopies(const Program& program, const Gaps& gaps) : program_(program), gaps_(gaps) {
  const OpIndex n = program.op_count();
  last_write_.assign(static_cast<std::size_t>(gaps.count()), kNeverWritten);
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    const Block& block = program.block(gap.block);
    OpIndex& last = last_write_[static_cast<std::size_t>(g)];
    OpIndex latest = kNeverWritten;  // in the iteration before, seen from the gap
    for (const BlockAccess& access : program.accesses(gap.block)) {
      if (!access.writes) continue;
      if (access.op <= gap.from)
        last = access.op;
      else if (block.lifetime != Lifetime::wrapping || access.op >= block.birth)
        latest = access.op - n;
    }
    // A write before the birth of the instance the gap belongs to is another instance's.
    const bool old_instance = block.lifetime == Lifetime::wrapping && gap.from <= block.death;
    if (block.lifetime == Lifetime::wrapping && !old_instance && last != kNeverWritten && last < block.birth)
      last = kNeverWritten;
    if (last == kNeverWritten && (block.lifetime == Lifetime::persistent || old_instance)) last = latest;
    if (last == kNeverWritten && block.lifetime != Lifetime::persistent)
      last = block.birth - (old_instance ? n : 0);
  }
}

OpIndex HostCopies::local_from(GapId g) const {
  const Block& block = program_.block(gaps_[g].block);
  const bool next_iteration = block.lifetime == Lifetime::wrapping && gaps_[g].from <= block.death;
  return gaps_[g].from + (next_iteration ? program_.op_count() : 0);
}

bool HostCopies::present_since(const Plan& plan, GapId g, OpIndex op) const {
  const BlockId block = gaps_[g].block;
  const bool cyclic = program_.block(block).lifetime == Lifetime::persistent;
  const OpIndex shift = local_from(g) - gaps_[g].from;
  for (GapId other = gaps_.first(block); other < gaps_.last(block); ++other) {
    if (other == g || plan[other].action == Action::keep) continue;
    const OpIndex from = local_from(other) - shift;
    const OpIndex to = from + gaps_[other].to - gaps_[other].from;
    if (from < gaps_[g].from && to > op) return false;
    if (cyclic && to - program_.op_count() > op) return false;
  }
  return true;
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
  const OpIndex n = program_.op_count();
  std::vector<Bytes> change(static_cast<std::size_t>(2 * n) + 2, 0);
  Bytes always = 0;
  BlockId counted = -1;
  for (std::size_t i = 0; i < swaps.size(); ++i) {
    const Swap& swap = swaps[i];
    if (last_write(swap.gap) == kNeverWritten) {
      if (swap.block != counted) always += swap.bytes;
      counted = swap.block;
      continue;
    }
    if (swap.clean) continue;  // counted with the copy-out it lives on
    const OpIndex start = std::max(gaps_[swap.gap].from, swap.out_after);
    OpIndex end = swap.needed_at;
    // The clean swaps that follow, in cyclic order, until the next copy-out of the block.
    std::size_t first = i;
    std::size_t last = i + 1;
    while (first > 0 && swaps[first - 1].block == swap.block) --first;
    while (last < swaps.size() && swaps[last].block == swap.block) ++last;
    for (std::size_t k = i + 1; k < last + (i - first); ++k) {
      const bool wrapped = k >= last;
      const Swap& next = swaps[wrapped ? first + (k - last) : k];
      if (!next.clean) break;
      const bool later_iteration = wrapped || gaps_[next.gap].from < gaps_[swap.gap].from;
      end = std::max(end, next.needed_at + (later_iteration ? n : 0));
    }
    change[static_cast<std::size_t>(start)] += swap.bytes;
    change[static_cast<std::size_t>(std::min(end, start + n))] -= swap.bytes;
  }
  Bytes peak = 0;
  Bytes now = 0;
  std::vector<Bytes> held(static_cast<std::size_t>(2 * n) + 1);
  for (std::size_t j = 0; j < held.size(); ++j) held[j] = now += change[j];
  for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
    peak = std::max(peak, held[j] + held[j + static_cast<std::size_t>(n)]);
  return peak + always;
}

}  // namespace ebb
