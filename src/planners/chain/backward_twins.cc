#include <algorithm>
#include <iterator>

#include "planners/chain/chain_cuts.h"

namespace ebb {
namespace {

bool computes(Phase phase) { return phase != Phase::zero_grad && phase != Phase::update; }

class TwinFinder {
 public:
  TwinFinder(const Program& program, OpIndex turn)
      : program_(program), turn_(turn), users_(program.blocks().size()) {
    for (OpIndex i = 0; i < turn; ++i) {
      if (!computes(program.op(i).phase)) continue;
      for (const Access& access : program.op(i).accesses)
        users_[static_cast<std::size_t>(access.block)].push_back(i);
    }
  }

  std::vector<OpIndex> find() {
    for (OpIndex j = turn_; j < program_.op_count(); ++j) candidates_.push_back(candidates_of(j));
    // What comes later is the backward of something earlier: sure twins of later ops bound those of earlier
    // ones.
    std::vector<OpIndex> least(candidates_.size() + 1, 0);
    for (std::size_t k = candidates_.size(); k-- > 0;)
      least[k] = std::max(least[k + 1], candidates_[k].size() == 1 ? candidates_[k].front() : 0);
    std::vector<OpIndex> twins;
    OpIndex current = turn_ - 1;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      current = choose(candidates_[k], least[k + 1], current);
      twins.push_back(current);
    }
    return twins;
  }

 private:
  // The forward ops that use everything of forward that op j reads, ascending.
  std::vector<OpIndex> candidates_of(OpIndex j) const {
    std::vector<OpIndex> common;
    if (!computes(program_.op(j).phase)) return common;
    for (const Access& access : program_.op(j).accesses) {
      const std::vector<OpIndex>& users = users_[static_cast<std::size_t>(access.block)];
      if (users.empty() || !access.reads) continue;
      std::vector<OpIndex> narrower;
      std::set_intersection(common.begin(), common.end(), users.begin(), users.end(),
                            std::back_inserter(narrower));
      if (common.empty())
        common = users;
      else if (!narrower.empty())
        common.swap(narrower);
    }
    return common;
  }

  // The last candidate in [least, current]; where several qualify, one whose turn has not come yet.
  static OpIndex choose(const std::vector<OpIndex>& candidates, OpIndex least, OpIndex current) {
    if (candidates.empty()) return current;
    if (candidates.size() == 1) return std::min(current, std::max(least, candidates.front()));
    const auto after = std::lower_bound(candidates.begin(), candidates.end(), current);
    if (after == candidates.begin() || *std::prev(after) < least) return current;
    return *std::prev(after);
  }

  const Program& program_;
  const OpIndex turn_;
  std::vector<std::vector<OpIndex>> users_;  // by block: the forward ops that use it, ascending
  std::vector<std::vector<OpIndex>> candidates_;
};

}  // namespace

std::vector<OpIndex> backward_twins(const Program& program, OpIndex turn) {
  return TwinFinder(program, turn).find();
}

}  // namespace ebb
