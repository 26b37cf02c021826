#include "runtime/replay_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/mix.h"
#include "runtime/out_of_memory.h"
#include "trace/error.h"

namespace ebb {

PagedBlock* ReplayCast::find(Handle handle) const {
  const auto it = std::find(handles.begin(), handles.end(), handle);
  return it == handles.end() ? nullptr : blocks[static_cast<std::size_t>(it - handles.begin())];
}

void ReplayCast::clear() {
  handles.clear();
  blocks.clear();
  changed.clear();
  births.clear();
  pins.clear();
}

ReplayFrame::ReplayFrame(const RuntimeParts& parts, const Step& step, ReplayCast& cast, bool may_abandon)
    : parts_(parts), step_(step), cast_(cast), seed_(step.seed), may_abandon_(may_abandon) {
  cast_.births.clear();
}

ReplayFrame::~ReplayFrame() {
  for (PagedBlock* block : cast_.births)
    if (block) unpin_and_erase(*block);
}

void ReplayFrame::unpin_and_erase(PagedBlock& block) {
  --block.pins;
  parts_.pager.compute_advanced();
  parts_.lifetimes.erase(block);
}

std::byte* ReplayFrame::data(Handle block) {
  if (is_extra(block)) return parts_.pager.data(*parts_.table.find(block));
  if (PagedBlock** made = birth(block)) return parts_.pager.data(**made);
  if (const PagedBlock* operand = cast_.find(block)) return parts_.pager.data(*operand);
  throw InputError(
      fmt::format("replay of op {}: block {} is neither operand nor birth", step_.name(), block));
}

PagedBlock** ReplayFrame::birth(Handle handle) {
  for (std::size_t k = 0; k < cast_.births.size(); ++k)
    if (step_.births[k].block == handle && cast_.births[k]) return &cast_.births[k];
  return nullptr;
}

bool ReplayFrame::can_undo() const {
  return std::all_of(cast_.changed.begin(), cast_.changed.end(),
                     [](const PagedBlock* block) { return block->clean(); });
}

Handle ReplayFrame::malloc(Bytes bytes) {
  const std::size_t next = cast_.births.size();
  const bool is_birth = next < step_.births.size() && step_.births[next].bytes == bytes;
  PagedBlock& block = parts_.table.create(bytes);
  try {
    if (!parts_.pager.place(block, is_birth ? parts_.guide.place_of_replayed(step_, next) : PlannedPlace{})) {
      if (may_abandon_ && can_undo()) {
        abandoned_ = true;
        throw AbandonOp{};
      }
      throw parts_.pager.no_room(fmt::format("replay of op {}: no room for {} bytes", step_.name(), bytes),
                                 bytes);
    }
  } catch (...) {
    parts_.lifetimes.erase(block);
    throw;
  }
  ++block.pins;
  if (!is_birth) {
    block.stuck = true;
    return extras_.emplace_back(block.handle);
  }
  cast_.births.push_back(&block);
  return step_.births[next].block;
}

void ReplayFrame::free(Handle handle) {
  if (std::erase(extras_, handle) > 0) return unpin_and_erase(*parts_.table.find(handle));
  // Blocks that are not its own were freed when it ran first.
  if (PagedBlock* block = take(handle)) {
    ++block->pins;
    unpin_and_erase(*block);
  }
}

PagedBlock* ReplayFrame::take(Handle birth) {
  PagedBlock** made = this->birth(birth);
  if (!made) return nullptr;
  --(*made)->pins;
  return std::exchange(*made, nullptr);
}

void ReplayFrame::nested(const OpInfo&, std::span<const Handle>, std::span<const Handle>,
                         const ExecFunction& function) {
  const std::uint64_t outer = std::exchange(seed_, mix(seed_, ++nested_));
  function(*this);
  seed_ = outer;
}

}  // namespace ebb
