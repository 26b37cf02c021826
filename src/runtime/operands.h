// Everything an op needs in place before it runs: its operands resident and pinned, and one hole for what it
// will malloc.
#pragma once

#include <span>
#include <vector>

#include "runtime/pager.h"

namespace ebb {

// Pins the blocks as they become resident; blocks that have no bytes yet get some. Then makes a hole of
// `inside` bytes, compacting the blocks, and then those that rest, if they stand in its way; a hole that
// cannot be made is not an error, the op may need less. false: the blocks themselves do not fit. REQUIRES:
// none is dropped; each block once.
[[nodiscard]] bool pin_together(Pager& pager, std::span<PagedBlock* const> blocks, Bytes inside,
                                PinnedBlocks& pins);

// To be thrown where it is false.
OutOfMemory no_room_for(const Pager& pager, const std::string& op, std::span<PagedBlock* const> blocks);

// Copies out what is not clean yet, so that an op that changes the blocks in place can be undone. false: the
// host has no room.
[[nodiscard]] bool back_up(Pager& pager, std::span<PagedBlock* const> blocks);

// The bytes the blocks take in the arena.
Bytes arena_bytes(std::span<PagedBlock* const> blocks);

}  // namespace ebb
