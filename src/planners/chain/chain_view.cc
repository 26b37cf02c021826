#include "planners/chain/chain_view.h"

#include <algorithm>

#include "plan/turn.h"
#include "planners/chain/chain_cuts.h"

namespace ebb {
namespace {

// A virtual layer that holds more of the activations than this is taken apart.
constexpr double kLargestLayer = 1.0 / 5;

class Viewer {
 public:
  Viewer(const Program& program, const Gaps& gaps, const Machine& machine)
      : program_(program), gaps_(gaps), machine_(machine), turn_(std::max<OpIndex>(1, find_turn(program))) {}

  ChainView view() {
    view_.chain.bandwidth = std::min(machine_.bandwidth_out, machine_.bandwidth_in);
    view_.base = program_.info().unmanaged;
    for (const Block& block : program_.blocks())
      if (block.lifetime == Lifetime::persistent) view_.base += block.bytes;
    cut();
    assign_activations();
    assign_gradients();
    measure();
    return std::move(view_);
  }

 private:
  ChainLayer& layer(std::size_t i) { return view_.chain.layers[i]; }

  void cut() {
    starts_ = forward_cuts(program_, turn_, kLargestLayer);
    const std::size_t layers = starts_.size();
    const std::vector<OpIndex> twins = backward_twins(program_, turn_);
    view_.chain.layers.resize(layers);
    view_.parts.resize(layers);
    OpIndex backward = turn_;
    for (std::size_t i = layers; i-- > 0;) {
      ChainPart& part = view_.parts[i];
      part.forward = {starts_[i], i + 1 < layers ? starts_[i + 1] : turn_};
      part.backward.begin = backward;
      while (backward < program_.op_count() &&
             (i == 0 || twins[static_cast<std::size_t>(backward - turn_)] >= starts_[i]))
        ++backward;
      part.backward.end = backward;
    }
  }

  std::size_t layer_of(OpIndex forward_op) const {
    return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), forward_op) -
                                    starts_.begin()) -
           1;
  }

  void assign_activations() {
    for (GapId g = 0; g < gaps_.count(); ++g) {
      const Gap& gap = gaps_[g];
      const Block& block = program_.block(gap.block);
      if (block.lifetime != Lifetime::local || gap.kind != GapKind::between) continue;
      if (gap.from >= turn_ || gap.to < turn_) continue;
      const std::size_t maker = layer_of(block.birth);
      const std::size_t reader = layer_of(gap.from);
      const bool skips = reader > maker + 1;
      if (skips) view_.skips.push_back(gap.block);
      add_activation(skips ? reader : maker + 1, g, block.bytes);
    }
  }

  void add_activation(std::size_t i, GapId gap, Bytes bytes) {
    if (i == view_.parts.size()) {
      view_.chain.output += bytes;  // made by the last layer: it has no time to leave
      return;
    }
    layer(i).input += bytes;
    view_.parts[i].gaps.push_back(gap);
  }

  // y_i: what B_i hands on to B_{i-1}.
  void assign_gradients() {
    for (const Block& block : program_.blocks()) {
      if (block.lifetime != Lifetime::local || block.birth < turn_) continue;
      for (std::size_t i = 0; i < view_.parts.size(); ++i)
        if (block.birth < view_.parts[i].backward.end && view_.parts[i].backward.end <= block.death)
          layer(i).gradient += block.bytes;
    }
  }

  Bytes largest_demand(OpRange ops) const {
    Bytes most = 0;
    const OpIndex last = std::min(std::max(ops.end - 1, ops.begin), program_.op_count() - 1);
    for (OpIndex j = std::min(ops.begin, last); j <= last; ++j) most = std::max(most, program_.demand(j));
    return most - view_.base;
  }

  Nanoseconds time_of(OpRange ops) const {
    Nanoseconds time = 0;
    for (OpIndex j = ops.begin; j < ops.end; ++j) time += machine_.op_time(program_.op(j));
    return time;
  }

  // The extras are what makes each layer's need the one that was recorded.
  void measure() {
    Bytes held = 0;
    for (std::size_t i = 0; i < view_.parts.size(); ++i) {
      const ChainPart& part = view_.parts[i];
      held += view_.chain.x(i);
      layer(i).forward = time_of(part.forward);
      layer(i).backward = time_of(part.backward);
      layer(i).forward_extra = largest_demand(part.forward) - held - view_.chain.forward_need(i);
      layer(i).backward_extra = largest_demand(part.backward) - held - view_.chain.backward_need(i);
    }
  }

  const Program& program_;
  const Gaps& gaps_;
  const Machine& machine_;
  const OpIndex turn_;
  std::vector<OpIndex> starts_;
  ChainView view_;
};

}  // namespace

ChainView view_as_chain(const Program& program, const Gaps& gaps, const Machine& machine) {
  return Viewer(program, gaps, machine).view();
}

Plan plan_of(const ChainView& view, const Gaps& gaps, const OffloadSet& offloaded) {
  Plan plan = Plan::keep_all(gaps);
  for (std::size_t i = 0; i < view.parts.size(); ++i)
    for (const GapId g : view.parts[i].gaps)
      if (offloaded[i]) plan[g].action = Action::swap;
  return plan;
}

}  // namespace ebb
