#include "planners/recompute/stages.h"

#include <algorithm>
#include <set>

namespace ebb {
namespace {

constexpr int kWidest = 64;

}  // namespace

ForwardPlaces::ForwardPlaces(const Program& program, const Gaps& gaps, const Mirror& mirror)
    : turn_(mirror.turn()),
      width_(static_cast<std::size_t>(turn_) + 1, 0),
      made_until_(static_cast<std::size_t>(turn_) + 1, 0) {
  std::vector<int> unsettled(width_.size(), 0);
  for (BlockId b = 0; b < program.block_count(); ++b) {
    if (!program.managed(b) || program.block(b).lifetime != Lifetime::local) continue;
    OpIndex first_write = kNoOp, last_write = kNoOp, last_use = kNoOp;
    for (const BlockAccess& access : program.accesses(b)) {
      if (access.op >= turn_) break;
      if (access.writes && first_write == kNoOp) first_write = access.op;
      if (access.writes) last_write = access.op;
      last_use = access.op;
    }
    if (first_write == kNoOp) continue;
    ++unsettled[static_cast<std::size_t>(first_write)];
    --unsettled[static_cast<std::size_t>(last_write)];
    if (last_use == last_write) continue;
    crossings_.push_back({last_write, last_use, program.block(b).bytes});
    ++width_[static_cast<std::size_t>(last_write)];
    --width_[static_cast<std::size_t>(last_use)];
  }
  std::stable_sort(crossings_.begin(), crossings_.end(),
                   [](const Crossing& a, const Crossing& b) { return a.maker < b.maker; });
  for (GapId g : mirror.droppable())
    if (gaps[g].kind != GapKind::trailing)
      made_until_[static_cast<std::size_t>(program.version(gaps[g].version).writer)] +=
          program.block(gaps[g].block).bytes;
  for (std::size_t i = 1; i < width_.size(); ++i) {
    width_[i] += width_[i - 1];
    unsettled[i] += unsettled[i - 1];
    made_until_[i] += made_until_[i - 1];
  }
  for (std::size_t i = 0; i < width_.size(); ++i)
    if (unsettled[i] > 0) width_[i] = 0;
}

std::vector<OpIndex> ForwardPlaces::candidates(int width) const {
  std::vector<OpIndex> places;
  for (OpIndex i = 0; i + 1 < turn_; ++i)
    if (const int here = width_[static_cast<std::size_t>(i)]; here >= 1 && here <= width) places.push_back(i);
  return places;
}

std::vector<int> ForwardPlaces::widths() const {
  std::vector<int> widths;
  std::size_t before = 0;
  for (int width = 1; width <= kWidest; width *= 2) {
    const std::size_t now = candidates(width).size();
    if (now > before) widths.push_back(width);
    before = now;
  }
  return widths;
}

Stages ForwardPlaces::split(const std::vector<OpIndex>& candidates, Bytes budget) const {
  Stages stages;
  Bytes before = 0;
  std::size_t next = 0;
  std::vector<const Crossing*> open;  // crossings that begin before the place and may reach it
  std::set<const Crossing*> stored;
  for (OpIndex place : candidates) {
    for (; next < crossings_.size() && crossings_[next].maker <= place; ++next)
      open.push_back(&crossings_[next]);
    std::erase_if(open, [&](const Crossing* crossing) { return crossing->last_use <= place; });
    const Bytes made = made_until(place) - before;
    if (made <= budget) continue;
    for (const Crossing* crossing : open)
      if (stored.insert(crossing).second) stages.stored += crossing->bytes;
    stages.largest = std::max(stages.largest, made);
    stages.cuts.push_back(place);
    before = made_until(place);
  }
  stages.largest = std::max(stages.largest, made_until_.back() - before);
  return stages;
}

std::vector<OpIndex> ForwardPlaces::makers_across(OpIndex place) const {
  std::vector<OpIndex> makers;
  for (const Crossing& crossing : crossings_)
    if (crossing.maker <= place && place < crossing.last_use) makers.push_back(crossing.maker);
  return makers;
}

MirrorCounts counts_of(const ForwardPlaces& places, const std::vector<OpIndex>& cuts) {
  MirrorCounts counts(static_cast<std::size_t>(places.turn()), 1);
  for (OpIndex cut : cuts)
    for (OpIndex maker : places.makers_across(cut)) counts[static_cast<std::size_t>(maker)] = 0;
  return counts;
}

}  // namespace ebb
