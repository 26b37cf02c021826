#include <algorithm>

#include "machine/scale.h"
#include "planners/mixed/feature_maps.h"
#include "planners/mixed/mixed.h"
#include "planners/mixed/triggered.h"

namespace ebb {
namespace {

struct Modes {
  bool swap = false;
  bool recompute = false;
};

// Operands, births and workspace of the op that needs most.
Bytes largest_layer(const Program& program) {
  Bytes largest = 0;
  for (const Op& op : program.ops()) {
    Bytes bytes = op.workspace;
    for (const Access& access : op.accesses) bytes += program.block(access.block).bytes;
    largest = std::max(largest, bytes);
  }
  return largest;
}

class SuperNeurons {
 public:
  SuperNeurons(const PlanningProblem& problem, Modes modes)
      : problem_(problem),
        modes_(modes),
        maps_(find_feature_maps(problem.program, problem.gaps)),
        plan_(Plan::keep_all(problem.gaps)),
        evaluate_(problem) {}

  PlanningResult run() {
    PlanningResult result;
    result.infeasible = evaluate_(plan_).infeasible;
    if (result.infeasible) {
      find_segments();
      if (modes_.recompute) recompute_segments();
      result.infeasible = offload_as_needed();
      if (!result.infeasible) prefetch();
    }
    result.plan = std::move(plan_);
    result.evaluations = evaluate_.count();
    return result;
  }

 private:
  const Gap& gap_of(const FeatureMap& map) const { return problem_.gaps[map.gap]; }

  bool is_heavy(const FeatureMap& map) const {
    auto heavy = [&](OpIndex op) {
      return op >= 0 && op_kind(problem_.program.op(op).name) == OpKind::arithmetic;
    };
    return heavy(map.maker) || std::any_of(map.ops.begin(), map.ops.end(), heavy);
  }

  // Checkpoints are what takes a convolution or a matrix product to make, and what could be made again only
  // by going back beyond its own segment: the join of a residual block reads the one before it.
  void find_segments() {
    std::vector<const FeatureMap*> by_maker;
    for (const FeatureMap& map : maps_) by_maker.push_back(&map);
    std::stable_sort(by_maker.begin(), by_maker.end(),
                     [](const FeatureMap* a, const FeatureMap* b) { return a->maker < b->maker; });
    std::vector<std::size_t> dropped_in(problem_.program.versions().size(),
                                        0);  // by version: segment, 0: not
    segments_.emplace_back();
    for (const FeatureMap* map : by_maker) {
      if (is_heavy(*map) || reaches_back(*map, dropped_in)) {
        checkpoints_.push_back(map->gap);
        segments_.emplace_back();
      } else if (map->remakable) {
        segments_.back().push_back(map);
        dropped_in[static_cast<std::size_t>(gap_of(*map).version)] = segments_.size();
      }
    }
    std::stable_sort(checkpoints_.begin(), checkpoints_.end(),
                     [&](GapId a, GapId b) { return problem_.gaps[a].from < problem_.gaps[b].from; });
  }

  bool reaches_back(const FeatureMap& map, const std::vector<std::size_t>& dropped_in) const {
    for (OpIndex op : map.ops)
      for (VersionId v : problem_.program.inputs(op)) {
        const std::size_t segment = dropped_in[static_cast<std::size_t>(v)];
        if (segment != 0 && segment != segments_.size()) return true;
      }
    return false;
  }

  void recompute_segments() {
    const Bytes largest = largest_layer(problem_.program);
    for (const auto& segment : segments_) drop(segment, largest);
  }

  // Speed-centric: the first need in backward makes the whole segment, which then stays. Memory-centric:
  // every need makes what it needs again, and nothing stays.
  void drop(const std::vector<const FeatureMap*>& segment, Bytes largest) {
    if (segment.empty()) return;
    Bytes bytes = 0;
    OpIndex first = gap_of(*segment.front()).to;
    for (const FeatureMap* map : segment) {
      bytes += map->bytes;
      first = std::min(first, gap_of(*map).to);
    }
    for (const FeatureMap* map : segment) {
      const Gap& gap = gap_of(*map);
      Decision& decision = plan_[map->gap];
      decision.action = Action::recompute;
      decision.stays.emplace();
      if (bytes <= largest && gap.from + 1 < first && first < gap.to)
        decision.stays->push_back({first, gap.to});
    }
  }

  // The tensor cache holds what fits; the checkpoints used longest ago, the first of forward, leave.
  std::optional<Infeasible> offload_as_needed() {
    std::size_t enough = modes_.swap ? checkpoints_.size() : 0;
    std::optional<Infeasible> failure = offload(enough);
    if (failure) return failure;
    for (std::size_t fewer = 0; fewer < enough;) {
      const std::size_t middle = fewer + (enough - fewer) / 2;
      if (offload(middle))
        fewer = middle + 1;
      else
        enough = middle;
    }
    offloaded_ = enough;
    return offload(enough);
  }

  std::optional<Infeasible> offload(std::size_t count) {
    for (std::size_t i = 0; i < checkpoints_.size(); ++i)
      plan_[checkpoints_[i]].action = i < count ? Action::swap : Action::keep;
    return evaluate_(plan_).infeasible;
  }

  // A checkpoint comes back while backward works on the one after it.
  void prefetch() {
    std::vector<Trigger> triggers;
    std::vector<OpIndex> needs;
    for (GapId g : checkpoints_) needs.push_back(problem_.gaps[g].to);
    std::sort(needs.begin(), needs.end());
    for (std::size_t i = 0; i < offloaded_; ++i) {
      const auto own = std::lower_bound(needs.begin(), needs.end(), problem_.gaps[checkpoints_[i]].to);
      triggers.push_back({checkpoints_[i], own == needs.begin() ? 0 : *(own - 1)});
    }
    plan_ = with_triggers(plan_, evaluate_.lowered(), triggers);
  }

  const PlanningProblem& problem_;
  const Modes modes_;
  const std::vector<FeatureMap> maps_;
  std::vector<std::vector<const FeatureMap*>> segments_;  // what is cheap, between checkpoints
  std::vector<GapId> checkpoints_;                        // in the order in which forward is done with them
  std::size_t offloaded_ = 0;
  Plan plan_;
  Evaluator evaluate_;
};

}  // namespace

PlanningResult plan_superneurons_swap(const PlanningProblem& problem, const PlannerOptions& options) {
  return SuperNeurons(problem, {.swap = options.allow_swap}).run();
}

PlanningResult plan_superneurons_recompute(const PlanningProblem& problem, const PlannerOptions& options) {
  return SuperNeurons(problem, {.recompute = options.allow_recompute}).run();
}

PlanningResult plan_superneurons(const PlanningProblem& problem, const PlannerOptions& options) {
  return SuperNeurons(problem, {.swap = options.allow_swap, .recompute = options.allow_recompute}).run();
}

}  // namespace ebb
