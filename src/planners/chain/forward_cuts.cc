#include <algorithm>

#include "planners/chain/chain_cuts.h"

namespace ebb {
namespace {

// A block made in forward, from its birth to its last forward access.
struct Reach {
  BlockId block = 0;
  OpIndex from = 0;
  OpIndex to = 0;
  Bytes saved = 0;  // what backward reads of it

  OpIndex length() const { return to - from; }
};

std::vector<Reach> forward_reaches(const Program& program, OpIndex turn) {
  std::vector<Reach> reaches;
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const Block& block = program.block(b);
    if (block.lifetime != Lifetime::local || block.birth >= turn || !program.managed(b)) continue;
    Reach reach{.block = b, .from = block.birth, .to = block.birth};
    for (const BlockAccess& access : program.accesses(b)) {
      if (access.op < turn) reach.to = access.op;
      if (access.op >= turn) reach.saved = block.bytes;
    }
    reaches.push_back(reach);
  }
  return reaches;
}

// A stretch of fewer ops is a layer, however much it holds.
constexpr OpIndex kFewOps = 8;

class Cutter {
 public:
  Cutter(std::vector<Reach> reaches, OpIndex turn, double largest)
      : reaches_(std::move(reaches)), turn_(turn) {
    Bytes total = 0;
    for (const Reach& reach : reaches_) total += reach.saved;
    largest_ = static_cast<Bytes>(largest * static_cast<double>(total));
  }

  std::vector<OpIndex> cut() {
    starts_.push_back(0);
    split(0, turn_, turn_);
    return std::move(starts_);
  }

 private:
  struct Cut {
    OpIndex at = 0;
    BlockId crossing = -1;
  };

  // Cuts [begin, end) as if what reaches over more than `longest` ops were not there.
  void split(OpIndex begin, OpIndex end, OpIndex longest) {
    const std::vector<Cut> cuts = cuts_between(begin, end, longest);
    OpIndex from = begin;
    for (std::size_t k = 0; k <= cuts.size(); ++k) {
      const OpIndex to = k < cuts.size() ? cuts[k].at : end;
      if (from > begin) starts_.push_back(from);
      if (longest > 1 && to - from >= kFewOps && saved_in(from, to) > largest_)
        split(from, to, std::min(longest, to - from) / 2);
      from = to;
    }
  }

  // Positions that at most one activation crosses; of those that the same one crosses, the last.
  std::vector<Cut> cuts_between(OpIndex begin, OpIndex end, OpIndex longest) const {
    const auto length = static_cast<std::size_t>(end - begin);
    std::vector<int> crossings(length + 1, 0);
    std::vector<std::int64_t> sum(length + 1, 0);  // of the crossing blocks' ids: the id where there is one
    for (const Reach& reach : reaches_) {
      const OpIndex first = std::max(reach.from + 1, begin + 1);
      const OpIndex last = std::min(reach.to, end - 1);
      if (first > last || reach.length() > longest) continue;
      crossings[static_cast<std::size_t>(first - begin)] += 1;
      crossings[static_cast<std::size_t>(last - begin) + 1] -= 1;
      sum[static_cast<std::size_t>(first - begin)] += reach.block;
      sum[static_cast<std::size_t>(last - begin) + 1] -= reach.block;
    }
    std::vector<Cut> cuts;
    for (std::size_t k = 1; k < length; ++k) {
      crossings[k] += crossings[k - 1];
      sum[k] += sum[k - 1];
      if (crossings[k] > 1) continue;
      const Cut cut{.at = begin + static_cast<OpIndex>(k),
                    .crossing = crossings[k] == 0 ? -1 : static_cast<BlockId>(sum[k])};
      if (!cuts.empty() && cuts.back().crossing == cut.crossing)
        cuts.back() = cut;
      else
        cuts.push_back(cut);
    }
    return cuts;
  }

  Bytes saved_in(OpIndex begin, OpIndex end) const {
    Bytes saved = 0;
    for (const Reach& reach : reaches_)
      if (begin <= reach.from && reach.from < end) saved += reach.saved;
    return saved;
  }

  std::vector<Reach> reaches_;
  OpIndex turn_;
  Bytes largest_ = 0;
  std::vector<OpIndex> starts_;
};

}  // namespace

std::vector<OpIndex> forward_cuts(const Program& program, OpIndex turn, double largest) {
  return Cutter(forward_reaches(program, turn), turn, largest).cut();
}

}  // namespace ebb
