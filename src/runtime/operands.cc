#include "runtime/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace ebb {

namespace {

// true: all of them are there.
bool pin_residents(std::span<PagedBlock* const> blocks, PinnedBlocks& pins) {
  pins.clear();
  for (PagedBlock* block : blocks)
    if (block->resident()) pins.add(*block);
  return pins.size() == blocks.size();
}

bool pin_all(Pager& pager, std::span<PagedBlock* const> blocks, PinnedBlocks& pins) {
  if (pin_residents(blocks, pins)) return true;
  for (PagedBlock* block : blocks) {
    if (block->resident()) continue;
    if (!(block->has_bytes() ? pager.bring_in(*block) : pager.place(*block))) return false;
    pins.add(*block);
  }
  return true;
}

}  // namespace

bool back_up(Pager& pager, std::span<PagedBlock* const> blocks) {
  for (PagedBlock* block : blocks)
    if (!block->clean() && !pager.start_copy_out(*block)) return false;
  return true;
}

Bytes arena_bytes(std::span<PagedBlock* const> blocks) {
  Bytes bytes = 0;
  for (const PagedBlock* block : blocks) bytes += Arena::rounded(block->bytes);
  return bytes;
}

OutOfMemory no_room_for(const Pager& pager, const std::string& op, std::span<PagedBlock* const> blocks) {
  Bytes longest = 0;
  for (const PagedBlock* block : blocks)
    if (!block->resident()) longest = std::max(longest, block->bytes);
  const Bytes all = arena_bytes(blocks);
  const std::string what = fmt::format("{}: no room for its operands of {} bytes", op, all);
  if (all <= pager.capacity()) return pager.no_room(what, longest);
  return OutOfMemory(fmt::format("{}: {}", what, pager.describe()), all - pager.capacity());
}

bool pin_together(Pager& pager, std::span<PagedBlock* const> blocks, Bytes inside, PinnedBlocks& pins) {
  if (arena_bytes(blocks) > pager.capacity()) return pin_residents(blocks, pins);
  bool pinned = pin_all(pager, blocks, pins);
  if (pinned && (pager.make_hole(inside) || arena_bytes(blocks) + inside > pager.capacity())) return true;
  for (const Pager::Resting resting : {Pager::Resting::stay, Pager::Resting::move}) {
    pager.compact(blocks, resting);
    pinned = pin_all(pager, blocks, pins);
    if (pinned && (pager.make_hole(inside) || arena_bytes(blocks) + inside > pager.capacity())) return true;
  }
  return pinned;
}

}  // namespace ebb
