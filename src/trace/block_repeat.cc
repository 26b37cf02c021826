#include "trace/block_repeat.h"

#include <algorithm>

namespace ebb {
namespace {

constexpr int kPasses = 8;  // begin moves right in each; two or three are usual
constexpr Bytes kLeakDivisor = 100;

// Sums of 2^60-byte mallocs over a long trace may pass 63 bits; as differences of a period they still cannot.
Bytes add_wrapping(Bytes a, Bytes b) {
  return static_cast<Bytes>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

BlockRepeat::BlockRepeat(const Trace& trace, const std::vector<BlockHistory>& blocks, std::size_t budget)
    : trace_(trace), blocks_(blocks), budget_(budget), next_(blocks.size()), previous_(blocks.size()) {
  malloced_.reserve(trace.events.size() + 1);
  freed_.reserve(trace.events.size() + 1);
  Bytes malloced = 0, freed = 0;
  malloced_.push_back(0);
  freed_.push_back(0);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    for (const MemoryEvent& memory : trace.memory_of(i)) {
      const Bytes bytes = blocks[static_cast<std::size_t>(memory.block)].bytes;
      Bytes& sum = memory.is_malloc ? malloced : freed;
      sum = add_wrapping(sum, bytes);
    }
    malloced_.push_back(malloced);
    freed_.push_back(freed);
  }
}

bool BlockRepeat::balanced(const PeriodicRun& run) const {
  const std::size_t begin = run.end - run.period;
  const auto malloced = static_cast<double>(add_wrapping(malloced_[run.end], -malloced_[begin]));
  const auto freed = static_cast<double>(add_wrapping(freed_[run.end], -freed_[begin]));
  return std::abs(malloced - freed) * static_cast<double>(kLeakDivisor) <= std::max(malloced, freed);
}

std::optional<PeriodicRun> BlockRepeat::exact_part(PeriodicRun run, std::size_t repeats) {
  if (!balanced(run)) return std::nullopt;
  for (int pass = 0; pass < kPasses; ++pass) {
    ++pass_;
    std::size_t i = run.end - run.period;
    while (i > run.begin && budget_ > 0 && same_event(i - 1, run)) {
      --i;
      --budget_;
    }
    if (i == run.begin) return run;
    run.begin = i;
    if (budget_ == 0 || run.length() < repeats * run.period) return std::nullopt;
    --budget_;
  }
  return std::nullopt;
}

bool BlockRepeat::same_event(std::size_t i, const PeriodicRun& run) {
  const TraceEvent& a = trace_.events[i];
  const TraceEvent& b = trace_.events[i + run.period];
  if (a.kind != b.kind || a.name != b.name || a.phase != b.phase) return false;
  const auto accesses_a = trace_.accesses_of(i), accesses_b = trace_.accesses_of(i + run.period);
  const auto memory_a = trace_.memory_of(i), memory_b = trace_.memory_of(i + run.period);
  if (accesses_a.size() != accesses_b.size() || memory_a.size() != memory_b.size()) return false;
  for (std::size_t k = 0; k < accesses_a.size(); ++k) {
    const Access &x = accesses_a[k], &y = accesses_b[k];
    if (x.reads != y.reads || x.writes != y.writes || x.side_effect != y.side_effect) return false;
    if (!same_block(x.block, y.block, run)) return false;
  }
  for (std::size_t k = 0; k < memory_a.size(); ++k) {
    const MemoryEvent &x = memory_a[k], &y = memory_b[k];
    if (x.is_malloc != y.is_malloc || x.bytes != y.bytes) return false;
    if (!x.is_malloc && !same_block(x.block, y.block, run)) return false;
  }
  return true;
}

bool BlockRepeat::same_block(BlockId x, BlockId y, const PeriodicRun& run) {
  const BlockHistory& a = blocks_[static_cast<std::size_t>(x)];
  const BlockHistory& b = blocks_[static_cast<std::size_t>(y)];
  if (a.bytes != b.bytes) return false;
  if (x == y) return a.born < run.begin && map(x, y);
  if (a.born + run.period == b.born && a.born_place == b.born_place)
    return a.born >= run.begin || (is_born_each_period(b, run) && map(x, y));
  const bool replaced = a.born < run.begin && b.born >= run.begin && b.born < run.begin + run.period;
  return replaced && map(x, y);
}

bool BlockRepeat::is_born_each_period(const BlockHistory& block, const PeriodicRun& run) const {
  if (block.born >= run.begin) return true;
  const std::size_t periods = (run.begin - block.born + run.period - 1) / run.period;
  const auto memory = trace_.memory_of(block.born + periods * run.period);
  return block.born_place < memory.size() && memory[block.born_place].is_malloc &&
         memory[block.born_place].bytes == block.bytes;
}

bool BlockRepeat::map(BlockId x, BlockId y) {
  Match& next = next_[static_cast<std::size_t>(x)];
  Match& previous = previous_[static_cast<std::size_t>(y)];
  if (next.pass == pass_ && next.block != y) return false;
  if (previous.pass == pass_ && previous.block != x) return false;
  next = {y, pass_};
  previous = {x, pass_};
  return true;
}

}  // namespace ebb
