#include "runtime/live_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "runtime/mix.h"
#include "runtime/out_of_memory.h"
#include "trace/error.h"

namespace ebb {

namespace {

constexpr std::size_t kPlaces = std::size_t{1} << 16;  // that `listed_at` tells apart

// In the list, or appended to it. Lists of an optimizer have thousands.
Operand& operand_for(PagedBlock& block, std::vector<Operand>& operands) {
  for (std::size_t i = block.listed_at; i < operands.size(); i += kPlaces)
    if (operands[i].block == &block) return operands[i];
  block.listed_at = static_cast<std::uint16_t>(operands.size() % kPlaces);
  return operands.emplace_back(Operand{.block = &block});
}

// What is also an input or an output cannot be left out of a replay.
void settle_roles(Operand& operand) {
  if (operand.side_effect && (operand.reads || operand.writes))
    operand.writes = true, operand.side_effect = false;
}

}  // namespace

void refuse_dead_block(Handle handle, std::string_view op) {
  throw InputError(fmt::format("op {}: block {} does not exist", op, handle));
}

void list_operands(const BlockTable& table, const OpInfo& info, std::span<const Handle> reads,
                   std::span<const Handle> writes, std::vector<Operand>& operands) {
  operands.clear();
  for (const Handle handle : reads) operand_for(live_block(table, handle, info.name), operands).reads = true;
  for (const Handle handle : writes)
    operand_for(live_block(table, handle, info.name), operands).writes = true;
  for (const Handle handle : info.side_effects) {
    Operand& operand = operand_for(live_block(table, handle, info.name), operands);
    operand.side_effect = true;
    settle_roles(operand);
  }
}

std::uint64_t signature_of(std::string_view name, std::span<const Operand> operands) {
  std::uint64_t signature = std::hash<std::string_view>{}(name);
  for (const Operand& operand : operands)
    signature = mix(signature, static_cast<std::uint64_t>(operand.block->bytes));
  return signature;
}

void expose(Pager& pager, OpCall& call, bool room_is_sure) {
  for (Operand& operand : call.operands) {
    if (!operand.in_place() || operand.exposed) continue;
    PagedBlock& block = *operand.block;
    if (call.may_abandon && !room_is_sure && !block.clean()) std::ignore = pager.start_copy_out(block);
    operand.guarded = block.clean();
    operand.exposed = true;
  }
}

namespace {

void prepare(Remaker& remaker, OpCall& call, PagedBlock& block, bool is_new, bool will_change) {
  if (is_new) call.keeps.add(block);
  if (will_change) {
    call.changing.add(block);
    remaker.prepare_change(block, call.keeps);
  }
  if (block.dropped()) remaker.remake(block);
}

}  // namespace

void prepare_operand(Remaker& remaker, OpCall& call, Operand& operand) {
  operand.version = operand.block->version;
  operand.maker = operand.block->maker;
  prepare(remaker, call, *operand.block, true, operand.changes());
}

void add_operand(Remaker& remaker, OpCall& call, const Operand& operand) {
  PagedBlock& block = *operand.block;
  const auto same = [&](const Operand& known) { return known.block == &block; };
  auto it = std::find_if(call.operands.begin(), call.operands.end(), same);
  const bool is_new = it == call.operands.end();
  if (is_new) {
    call.operands.push_back({.block = &block, .version = block.version, .maker = block.maker});
    it = std::prev(call.operands.end());
  }
  prepare(remaker, call, block, is_new, operand.changes() && !it->changes());
  // Not before all that can fail: an operand that counts as changed without having been prepared would strand
  // others.
  it->reads = it->reads || operand.reads;
  it->writes = it->writes || operand.writes;
  it->side_effect = it->side_effect || operand.side_effect;
  settle_roles(*it);
}

std::byte* LiveFrame::data(Handle handle) {
  const PagedBlock& block = live_block(parts_.table, handle, call_.name);
  if (block.pins == 0)
    throw InputError(fmt::format("op {}: block {} is neither operand nor birth", call_.name, handle));
  return parts_.pager.data(block);
}

bool LiveFrame::can_abandon() const {
  return call_.may_abandon && std::all_of(call_.operands.begin(), call_.operands.end(),
                                          [](const Operand& operand) { return operand.can_be_undone(); });
}

void LiveFrame::give_up(Bytes bytes) {
  if (can_abandon()) {
    call_.inside_peak = std::max(call_.inside_peak, call_.inside + Arena::rounded(bytes));
    call_.abandoned = true;
    throw AbandonOp{};
  }
  Bytes operands = 0;
  for (const Operand& operand : call_.operands) operands += operand.block->bytes;
  throw parts_.pager.no_room(
      fmt::format("op {}: no room for {} bytes beside its operands of {} and {} malloc'd in it", call_.name,
                  bytes, operands, call_.inside),
      bytes);
}

Handle LiveFrame::malloc(Bytes bytes) {
  if (bytes < 0) throw InputError(fmt::format("op {}: malloc of {} bytes", call_.name, bytes));
  PagedBlock& block = parts_.table.create(bytes);
  try {
    const PlannedPlace where = parts_.guide.place_of_malloc(bytes);
    if (!parts_.pager.place(block, where)) give_up(bytes);
  } catch (...) {
    parts_.lifetimes.erase(block);
    throw;
  }
  ++block.pins;
  parts_.guide.malloced(block);
  call_.births.push_back({&block, block.handle, bytes});
  if (call_.recorded) call_.memory.push_back({block.handle, bytes, true});
  call_.inside += Arena::rounded(bytes);
  call_.inside_peak = std::max(call_.inside_peak, call_.inside);
  return block.handle;
}

void LiveFrame::free(Handle handle) {
  const auto is_it = [handle](const Birth& birth) { return birth.handle == handle && birth.block; };
  const auto birth = std::find_if(call_.births.rbegin(), call_.births.rend(), is_it);  // mostly the last
  if (birth == call_.births.rend()) {
    live_block(parts_.table, handle, call_.name);
    if (std::find(call_.freed_after.begin(), call_.freed_after.end(), handle) != call_.freed_after.end())
      throw InputError(fmt::format("op {}: block {} is freed twice", call_.name, handle));
    call_.freed_after.push_back(handle);
    if (call_.recorded) call_.memory.push_back({.block = handle});
    return;
  }
  --birth->block->pins;
  parts_.pager.compute_advanced();
  parts_.lifetimes.erase(*birth->block);
  birth->block = nullptr;
  call_.inside -= Arena::rounded(birth->bytes);
  if (call_.recorded) call_.memory.push_back({.block = handle});
}

void LiveFrame::prepare_nested(std::span<const Operand> operands, std::optional<Bytes> inside) {
  const auto is_birth = [&](const Operand& operand) {
    return std::any_of(call_.births.begin(), call_.births.end(),
                       [&](const Birth& birth) { return birth.block == operand.block; });
  };
  const std::size_t known = call_.operands.size();
  try {
    for (const Operand& operand : operands)
      if (!is_birth(operand)) add_operand(remaker_, call_, operand);
  } catch (const OutOfMemory&) {
    if (!can_abandon()) throw;
    call_.abandoned = true;
    throw AbandonOp{};
  }
  for (std::size_t i = known; i < call_.operands.size(); ++i) {
    PagedBlock& block = *call_.operands[i].block;
    if (!block.resident() && !parts_.pager.bring_in(block)) give_up(block.bytes);
    call_.pins.add(block);
    call_.operands[i].ready = true;
  }
  const bool room_is_sure = inside && parts_.pager.make_hole(*inside);
  expose(parts_.pager, call_, room_is_sure);
  for (const Operand& operand : operands) parts_.pager.begin_use(*operand.block, operand.changes());
}

void LiveFrame::nested(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
                       const ExecFunction& function) {
  std::vector<Operand> operands;
  list_operands(parts_.table, info, reads, writes, operands);
  const std::uint64_t signature = signature_of(info.name, operands);
  prepare_nested(operands, history_.inside_peak(signature));
  call_.replayable = call_.replayable && info.replayable;
  call_.random = call_.random || info.random;
  const Bytes inside_before = call_.inside;
  const Bytes outer_peak = std::exchange(call_.inside_peak, call_.inside);
  const std::uint64_t outer_seed = std::exchange(seed_, mix(seed_, ++nested_));
  const auto back_in_the_outer_op = [&] {
    seed_ = outer_seed;
    history_.remember(signature, call_.inside_peak - inside_before);
    call_.inside_peak = std::max(call_.inside_peak, outer_peak);
  };
  try {
    function(*this);
  } catch (...) {
    back_in_the_outer_op();
    throw;
  }
  back_in_the_outer_op();
}

}  // namespace ebb
