#include "planners/chain/segment_view.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ebb {
namespace {

constexpr std::size_t kMostOptions = 6;  // of what a stage drops, beside nothing

// A local block born in forward.
struct Reach {
  std::size_t stage = 0;  // that makes it
  OpIndex birth = 0;
  OpIndex last_read = 0;  // in forward
  OpIndex death = 0;
  Bytes bytes = 0;
  GapId gap = -1;  // over the turn; -1: backward does not read it, or it cannot be dropped
};

class Segmenter {
 public:
  Segmenter(const PlanningProblem& problem, const ChainView& view, const Mirror& mirror,
            const std::vector<OpIndex>& starts, const std::vector<GapId>& away, Bytes slot)
      : program_(problem.program),
        gaps_(problem.gaps),
        machine_(problem.machine),
        mirror_(mirror),
        turn_(view.parts.back().forward.end),
        starts_(starts),
        away_(away),
        slot_(slot) {
    view_.parts.resize(starts.size());
    view_.chain.stages.resize(starts.size());
    for (std::size_t k = 0; k < starts.size(); ++k)
      view_.parts[k].forward = {starts[k], k + 1 < starts.size() ? starts[k + 1] : turn_};
    for (const ChainPart& layer : view.parts) join_backward(layer);
  }

  SegmentView view() {
    collect_reaches();
    mark_needed();
    sum_fixed();
    for (std::size_t k = 0; k < starts_.size(); ++k) {
      measure_forward(k);
      find_options(k);
    }
    measure_backward();
    measure_crossings();
    return std::move(view_);
  }

 private:
  std::size_t stage_of(OpIndex op) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), op) - starts_.begin()) -
           1;
  }
  SegmentStage& stage(std::size_t k) { return view_.chain.stages[k]; }
  Slots up(Bytes bytes) const { return (std::max<Bytes>(bytes, 0) + slot_ - 1) / slot_; }

  // The layers' backward ops lie one after the other against their order.
  void join_backward(const ChainPart& layer) {
    OpRange& joined = view_.parts[stage_of(layer.forward.begin)].backward;
    if (layer.backward.begin == layer.backward.end) return;
    if (joined.begin == joined.end) joined = layer.backward;
    joined.begin = std::min(joined.begin, layer.backward.begin);
    joined.end = std::max(joined.end, layer.backward.end);
  }

  void collect_reaches() {
    std::vector<GapId> gap_of(program_.blocks().size(), -1);
    for (GapId g : mirror_.droppable())
      if (gaps_[g].kind != GapKind::trailing) gap_of[static_cast<std::size_t>(gaps_[g].block)] = g;
    for (BlockId b = 0; b < program_.block_count(); ++b) {
      const Block& block = program_.block(b);
      if (block.lifetime != Lifetime::local || block.birth >= turn_) continue;
      const GapId gap = gap_of[static_cast<std::size_t>(b)];
      if (gap < 0 && block.death >= turn_) continue;
      Reach reach{.stage = stage_of(block.birth),
                  .birth = block.birth,
                  .last_read = block.birth,
                  .death = block.death,
                  .bytes = block.bytes,
                  .gap = gap};
      for (const BlockAccess& access : program_.accesses(b))
        if (access.op < turn_) reach.last_read = access.op;
      reaches_.push_back(reach);
      if (gap >= 0) view_.parts[reach.stage].gaps.push_back(gap);
    }
  }

  // The forward ops that a replay may want.
  void mark_needed() {
    needed_.assign(static_cast<std::size_t>(turn_), false);
    std::vector<bool> wanted(program_.versions().size(), false);
    for (const Reach& reach : reaches_)
      if (reach.gap >= 0) wanted[static_cast<std::size_t>(gaps_[reach.gap].version)] = true;
    for (OpIndex j = turn_; j-- > 0;) {
      for (const OpOutput& output : program_.outputs(j))
        if (wanted[static_cast<std::size_t>(output.version)]) needed_[static_cast<std::size_t>(j)] = true;
      if (!needed_[static_cast<std::size_t>(j)]) continue;
      for (VersionId input : program_.inputs(j)) wanted[static_cast<std::size_t>(input)] = true;
    }
  }

  // What is there at each op whatever is decided.
  void sum_fixed() {
    const OpIndex n = program_.op_count();
    std::vector<Bytes> change(static_cast<std::size_t>(n) + 1, 0);
    for (const Reach& reach : reaches_) {
      change[static_cast<std::size_t>(reach.birth)] += reach.bytes;
      change[static_cast<std::size_t>(reach.death) + 1] -= reach.bytes;
    }
    for (GapId g : away_) {
      change[static_cast<std::size_t>(gaps_[g].from) + 1] += bytes_of(g);
      change[static_cast<std::size_t>(gaps_[g].to)] -= bytes_of(g);
    }
    Bytes free = 0;
    for (OpIndex j = 0; j < n; ++j) {
      free += change[static_cast<std::size_t>(j)];
      fixed_.push_back(program_.demand(j) - free);
    }
  }

  void measure_forward(std::size_t k) {
    const OpRange ops = view_.parts[k].forward;
    const auto length = static_cast<std::size_t>(ops.end - ops.begin);
    std::vector<Bytes> passing(length + 1, 0), stored(length + 1, 0);
    auto add = [&](std::vector<Bytes>& change, OpIndex first, OpIndex last, Bytes bytes) {
      change[static_cast<std::size_t>(first - ops.begin)] += bytes;
      change[static_cast<std::size_t>(std::min(last + 1, ops.end) - ops.begin)] -= bytes;
    };
    for (const Reach& reach : reaches_) {
      if (reach.stage != k) continue;
      add(passing, reach.birth, reach.last_read, reach.bytes);
      add(stored, reach.birth, reach.gap >= 0 ? ops.end : std::max(reach.last_read, reach.birth),
          reach.bytes);
    }
    Bytes pass_first = 0, pass_again = 0, store_first = 0, store_again = 0, passes = 0, stores = 0;
    for (OpIndex j = ops.begin; j < ops.end; ++j) {
      passes += passing[static_cast<std::size_t>(j - ops.begin)];
      stores += stored[static_cast<std::size_t>(j - ops.begin)];
      const Bytes fixed = fixed_[static_cast<std::size_t>(j)];
      pass_first = std::max(pass_first, fixed + passes);
      store_first = std::max(store_first, fixed + stores);
      if (!needed_[static_cast<std::size_t>(j)]) continue;
      pass_again = std::max(pass_again, program_.op(j).workspace + passes);
      store_again = std::max(store_again, program_.op(j).workspace + stores);
      stage(k).rerun += machine_.replay_price(program_.op(j));
    }
    stage(k).pass_first = up(pass_first);
    stage(k).pass_again = up(pass_again);
    stage(k).store_first = up(store_first);
    stage(k).store_again = up(store_again);
    stage(k).rerun_as_last = rerun_of(k, view_.parts[k].gaps, true);
  }

  bool crosses(GapId g, std::size_t cut) const {
    return cut < starts_.size() && gaps_[g].from >= starts_[cut];
  }

  // The stage's own ops that make the gaps' contents from what the stage begins with.
  Nanoseconds rerun_of(std::size_t k, const std::vector<GapId>& gaps, bool without_crossing) const {
    const OpRange ops = view_.parts[k].forward;
    std::set<OpIndex> run;
    std::vector<VersionId> stack;
    for (GapId g : gaps)
      if (!without_crossing || !crosses(g, k + 1)) stack.push_back(gaps_[g].version);
    while (!stack.empty()) {
      const OpIndex writer = program_.version(stack.back()).writer;
      stack.pop_back();
      if (writer < ops.begin || writer >= ops.end || !run.insert(writer).second) continue;
      for (VersionId input : program_.inputs(writer)) stack.push_back(input);
    }
    Nanoseconds total = 0;
    for (OpIndex j : run) total += machine_.replay_price(program_.op(j));
    return total;
  }

  // Backward goes through the stages from the last: what they made is there until its own end.
  void measure_backward() {
    std::vector<Bytes> dying(static_cast<std::size_t>(program_.op_count()), 0);
    Bytes held = 0;
    OpIndex at = turn_;
    for (std::size_t k = starts_.size(); k-- > 0;) {
      for (const GapId g : view_.parts[k].gaps) {
        const OpIndex death = program_.block(gaps_[g].block).death;
        if (death < at) continue;
        held += bytes_of(g);
        dying[static_cast<std::size_t>(death)] += bytes_of(g);
      }
      const OpRange ops = view_.parts[k].backward;
      if (ops.begin == ops.end) continue;
      Bytes most = 0;
      for (at = ops.begin; at < ops.end; ++at) {
        most = std::max(most, fixed_[static_cast<std::size_t>(at)] + held);
        held -= dying[static_cast<std::size_t>(at)];
      }
      stage(k).backward = up(most);
      stage(k).beside = up(fixed_[static_cast<std::size_t>(ops.begin)] - program_.op(ops.begin).workspace -
                           program_.birth_bytes(ops.begin));
    }
  }

  // All of it; without what is cheap to make again from the rest, more and more; each of these moved.
  void find_options(std::size_t k) {
    std::vector<GapId> inner;
    Bytes all = 0;
    for (GapId g : view_.parts[k].gaps) {
      all += bytes_of(g);
      if (!crosses(g, k + 1)) inner.push_back(g);
    }
    std::stable_sort(inner.begin(), inner.end(), [&](GapId a, GapId b) { return rate(a) < rate(b); });
    add_option(k, {}, all, 0);
    std::set<OpIndex> run;
    std::vector<GapId> dropped;
    Bytes gone = 0, next = 0;
    const Bytes droppable = std::accumulate(inner.begin(), inner.end(), Bytes{0},
                                            [&](Bytes sum, GapId g) { return sum + bytes_of(g); });
    for (GapId g : inner) {
      dropped.push_back(g);
      gone += bytes_of(g);
      run.insert(mirror_.recipe(g).ops.begin(), mirror_.recipe(g).ops.end());
      if (gone < next && gone < droppable) continue;
      next = gone + droppable / static_cast<Bytes>(kMostOptions);
      Nanoseconds rerun = 0;
      for (OpIndex j : run) rerun += machine_.replay_price(program_.op(j));
      add_option(k, dropped, all - gone, rerun);
    }
  }

  void add_option(std::size_t k, const std::vector<GapId>& dropped, Bytes held, Nanoseconds rerun) {
    stage(k).options.push_back({.held = up(held), .rerun = rerun});
    view_.parts[k].dropped.push_back(dropped);
    if (held == 0) return;
    stage(k).options.push_back({.held = 0, .rerun = rerun, .copies = copies_of(held)});
    view_.parts[k].dropped.push_back(dropped);
  }

  Bytes bytes_of(GapId g) const { return program_.block(gaps_[g].block).bytes; }
  double rate(GapId g) const {
    return static_cast<double>(mirror_.recipe(g).duration) / static_cast<double>(bytes_of(g));
  }
  // Both directions; at least one, so that what leaves can be told.
  Nanoseconds copies_of(Bytes bytes) const {
    if (machine_.bandwidth_out <= 0 || machine_.bandwidth_in <= 0) return 0;
    return std::max<Nanoseconds>(1, machine_.copy_out_time(bytes) + machine_.copy_in_time(bytes));
  }

  void measure_crossings() {
    const std::size_t n = starts_.size();
    std::vector<Bytes> dead(n, 0);
    std::vector<std::vector<Bytes>> held(n, std::vector<Bytes>(n, 0)), passing = held;
    for (const Reach& reach : reaches_)
      for (std::size_t c = reach.stage + 1; c <= stage_of(reach.last_read); ++c) {
        passing[reach.stage][c] += reach.bytes;
        (reach.gap >= 0 ? held[reach.stage][c] : dead[c]) += reach.bytes;
      }
    view_.chain.crossings.resize(n);
    for (std::size_t s = n; s-- > 0;) {
      stage(s).dead_input = up(dead[s]);
      for (std::size_t c = s; c < n; ++c) {
        if (s + 1 < n) {
          held[s][c] += held[s + 1][c];
          passing[s][c] += passing[s + 1][c];
        }
        view_.chain.crossings[s].push_back({.held = up(held[s][c]),
                                            .passing = up(passing[s][c]),
                                            .copies = held[s][c] > 0 ? copies_of(held[s][c]) : 0});
      }
    }
  }

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  const Mirror& mirror_;
  const OpIndex turn_;
  const std::vector<OpIndex>& starts_;
  const std::vector<GapId>& away_;
  const Bytes slot_;
  std::vector<Reach> reaches_;
  std::vector<bool> needed_;  // by forward op
  std::vector<Bytes> fixed_;  // by op
  SegmentView view_;
};

}  // namespace

std::vector<GapId> SegmentView::crossing_gaps(std::size_t s, std::size_t c, const Gaps& gaps) const {
  std::vector<GapId> crossing;
  for (std::size_t k = s; k < c; ++k)
    for (GapId g : parts[k].gaps)
      if (gaps[g].from >= parts[c].forward.begin) crossing.push_back(g);
  return crossing;
}

std::vector<OpIndex> dearest_cuts(const PlanningProblem& problem, const ChainView& view, const Mirror& mirror,
                                  std::size_t most) {
  const std::size_t layers = view.parts.size();
  std::vector<double> time(layers, 0), bytes(layers, 0);
  auto layer_of = [&](OpIndex op) {
    const auto after =
        std::upper_bound(view.parts.begin(), view.parts.end(), op,
                         [](OpIndex j, const ChainPart& part) { return j < part.forward.begin; });
    return static_cast<std::size_t>(after - view.parts.begin()) - 1;
  };
  for (GapId g : mirror.droppable()) {
    const Gap& gap = problem.gaps[g];
    if (gap.kind == GapKind::trailing) continue;
    const std::size_t maker = layer_of(problem.program.block(gap.block).birth);
    if (layer_of(gap.from) == maker) continue;
    time[maker + 1] += static_cast<double>(mirror.recipe(g).duration);
    bytes[maker + 1] += static_cast<double>(problem.program.block(gap.block).bytes);
  }
  std::vector<std::size_t> cuts(layers - 1);
  std::iota(cuts.begin(), cuts.end(), std::size_t{1});
  auto rate = [&](std::size_t k) { return time[k] / std::max(bytes[k], 1.0); };
  std::stable_sort(cuts.begin(), cuts.end(), [&](std::size_t a, std::size_t b) { return rate(a) > rate(b); });
  cuts.resize(std::min(cuts.size(), most - 1));
  std::vector<OpIndex> starts = {0};
  for (const std::size_t k : cuts) starts.push_back(view.parts[k].forward.begin);
  std::sort(starts.begin(), starts.end());
  return starts;
}

std::vector<GapId> lasting_gaps(const PlanningProblem& problem, const Mirror& mirror) {
  std::vector<GapId> lasting;
  const std::vector<GapId>& droppable = mirror.droppable();
  for (GapId g = 0; g < problem.gaps.count(); ++g) {
    const Gap& gap = problem.gaps[g];
    const bool over_the_turn = gap.from < mirror.turn() && gap.to > mirror.turn();
    if (gap.kind != GapKind::between || !over_the_turn || gap.to >= problem.program.op_count()) continue;
    if (problem.program.block(gap.block).lifetime != Lifetime::local) continue;
    if (!std::binary_search(droppable.begin(), droppable.end(), g)) lasting.push_back(g);
  }
  std::stable_sort(lasting.begin(), lasting.end(),
                   [&](GapId a, GapId b) { return problem.gaps[a].from < problem.gaps[b].from; });
  return lasting;
}

SegmentView view_as_segments(const PlanningProblem& problem, const ChainView& view, const Mirror& mirror,
                             const std::vector<OpIndex>& starts, const std::vector<GapId>& away, Bytes slot) {
  return Segmenter(problem, view, mirror, starts, away, slot).view();
}

}  // namespace ebb
