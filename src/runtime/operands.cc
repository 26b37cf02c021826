#include "runtime/operands.h"

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

bool pin_together(Pager& pager, std::span<PagedBlock* const> blocks, Bytes inside, PinnedBlocks& pins) {
  if (!pin_residents(blocks, pins)) {
    if (arena_bytes(blocks) > pager.capacity()) return false;
    if (!pin_all(pager, blocks, pins)) {
      pager.compact(blocks);
      if (!pin_all(pager, blocks, pins)) return false;
    }
  }
  if (pager.make_hole(inside) || arena_bytes(blocks) + inside > pager.capacity()) return true;
  pager.compact(blocks);
  if (!pin_all(pager, blocks, pins)) return false;
  std::ignore = pager.make_hole(inside);
  return true;
}

}  // namespace ebb
