// Do the repeats of a run really do the same to corresponding blocks? Signatures cannot tell two blocks of
// one size apart; this can. A run with period p repeats exactly if, for each event i and i + p of it and each
// place x, y in them that names a block,
//   - x and y are one block that is older than the run (a weight), or
//   - y was malloc'd exactly p events after x, at the same place of its event, and the run mallocs such a
//   block in
//     each period, or
//   - x is older than the run and y was malloc'd in its first period (a gradient of the warm-up, replaced by
//   the
//     run's own), always the same y for the same x.
// So layers that look alike, double buffers and per-parameter updates are not taken for iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/block_history.h"
#include "trace/periodic_run.h"
#include "trace/trace.h"

namespace ebb {

class BlockRepeat {
 public:
  // `budget` bounds the event pairs looked at by all calls together.
  BlockRepeat(const Trace& trace, const std::vector<BlockHistory>& blocks, std::size_t budget);

  // The longest end of the run that repeats exactly; nothing if that has fewer than `repeats` periods, or if
  // the run's period mallocs and frees amounts that differ by more than a hundredth (time steps of an
  // unrolled network pile up activations and then take them down: not an iteration).
  std::optional<PeriodicRun> exact_part(PeriodicRun run, std::size_t repeats);

 private:
  bool balanced(const PeriodicRun& run) const;
  bool same_event(std::size_t i, const PeriodicRun& run);
  bool same_block(BlockId x, BlockId y, const PeriodicRun& run);
  bool is_born_each_period(const BlockHistory& block, const PeriodicRun& run) const;
  bool map(BlockId x, BlockId y);

  const Trace& trace_;
  const std::vector<BlockHistory>& blocks_;
  std::size_t budget_;
  std::vector<Bytes> malloced_;  // sums of all events before i
  std::vector<Bytes> freed_;
  struct Match {
    BlockId block = 0;
    std::uint32_t pass = 0;
  };
  std::uint32_t pass_ = 0;
  std::vector<Match> next_;  // the block that takes this one's place a period later, found in this pass
  std::vector<Match> previous_;
};

}  // namespace ebb
