#include "runtime/replay_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/out_of_memory.h"
#include "trace/error.h"

namespace ebb {

ReplayFrame::ReplayFrame(const RuntimeParts& parts, const Step& step,
                         const std::unordered_map<Handle, PagedBlock*>& operands, bool may_abandon)
    : parts_(parts), step_(step), operands_(operands), seed_(step.seed), may_abandon_(may_abandon) {}

ReplayFrame::~ReplayFrame() {
  for (const auto& [handle, block] : births_) unpin_and_erase(*block);
}

void ReplayFrame::unpin_and_erase(PagedBlock& block) {
  --block.pins;
  parts_.pager.compute_advanced();
  parts_.lifetimes.erase(block);
}

std::byte* ReplayFrame::data(Handle block) {
  if (is_extra(block)) return parts_.pager.data(*parts_.table.find(block));
  if (const auto it = births_.find(block); it != births_.end()) return parts_.pager.data(*it->second);
  if (const auto it = operands_.find(block); it != operands_.end()) return parts_.pager.data(*it->second);
  throw InputError(fmt::format("replay of op {}: block {} is neither operand nor birth", step_.name, block));
}

bool ReplayFrame::can_undo() const {
  return std::all_of(step_.outputs.begin(), step_.outputs.end(), [&](const StepOutput& output) {
    return !output.in_place || operands_.at(output.block)->clean();
  });
}

Handle ReplayFrame::malloc(Bytes bytes) {
  const bool is_birth = next_birth_ < step_.births.size() && step_.births[next_birth_].bytes == bytes;
  PagedBlock& block = parts_.table.create(bytes);
  try {
    if (!parts_.pager.place(block,
                            is_birth ? parts_.guide.place_of_replayed(step_, next_birth_) : PlannedPlace{})) {
      if (may_abandon_ && can_undo()) {
        abandoned_ = true;
        throw AbandonOp{};
      }
      throw OutOfMemory(fmt::format("replay of op {}: no room for {} bytes: {}", step_.name, bytes,
                                    parts_.pager.describe()));
    }
  } catch (...) {
    parts_.lifetimes.erase(block);
    throw;
  }
  ++block.pins;
  if (!is_birth) {
    block.stuck = true;
    return *extras_.insert(block.handle).first;
  }
  const Handle handle = step_.births[next_birth_++].block;
  births_.emplace(handle, &block);
  return handle;
}

void ReplayFrame::free(Handle handle) {
  if (extras_.erase(handle) > 0) return unpin_and_erase(*parts_.table.find(handle));
  // Blocks that are not its own were freed when it ran first.
  if (PagedBlock* block = take(handle)) {
    ++block->pins;
    unpin_and_erase(*block);
  }
}

PagedBlock* ReplayFrame::take(Handle birth) {
  const auto it = births_.find(birth);
  if (it == births_.end()) return nullptr;
  PagedBlock* block = it->second;
  births_.erase(it);
  --block->pins;
  return block;
}

void ReplayFrame::nested(const OpInfo&, std::span<const Handle>, std::span<const Handle>,
                         const ExecFunction& function) {
  const std::uint64_t outer = std::exchange(seed_, mix(seed_, ++nested_));
  function(*this);
  seed_ = outer;
}

}  // namespace ebb
