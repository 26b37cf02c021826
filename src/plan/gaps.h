// Gaps: the idle times of blocks, and the unit of decision. See docs/notes/simulation.md.
#pragma once

#include <span>
#include <vector>

#include "trace/program.h"

namespace ebb {

enum class GapKind : char { between, wrapping, trailing };

// The block may be absent at the ops strictly between `from` and `to`. 0 <= from < n, from < to < 2n
// (unrolled).
struct Gap {
  BlockId block = 0;
  OpIndex from = 0;
  OpIndex to = 0;
  GapKind kind = GapKind::between;
  VersionId version = 0;  // the content during the gap
  bool operator==(const Gap&) const = default;
};

// All gaps of the managed blocks, ordered by block and, within a block, by cyclic time from its birth.
class Gaps {
 public:
  explicit Gaps(const Program& program);

  GapId count() const { return static_cast<GapId>(gaps_.size()); }
  const Gap& operator[](GapId g) const { return gaps_[static_cast<std::size_t>(g)]; }
  auto begin() const { return gaps_.begin(); }
  auto end() const { return gaps_.end(); }
  // The half-open range of a block's gap ids.
  GapId first(BlockId b) const { return first_[static_cast<std::size_t>(b)]; }
  GapId last(BlockId b) const { return first_[static_cast<std::size_t>(b) + 1]; }
  // The block's gap after the access at op `from`, or -1.
  GapId find(BlockId b, OpIndex from) const;

 private:
  std::vector<Gap> gaps_;
  std::vector<GapId> first_;
};

}  // namespace ebb
