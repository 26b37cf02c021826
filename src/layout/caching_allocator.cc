#include "layout/caching_allocator.h"

#include <fmt/format.h>

#include <iterator>

#include "trace/error.h"

namespace ebb::layout {
namespace {

// The names are those of c10/cuda/CUDACachingAllocator.cpp.
constexpr Bytes kMinBlockSize = 512;
constexpr Bytes kSmallSize = 1 * kMiB;
constexpr Bytes kSmallBuffer = 2 * kMiB;
constexpr Bytes kMinLargeAlloc = 10 * kMiB;
constexpr Bytes kLargeBuffer = 20 * kMiB;
constexpr Bytes kRoundLarge = 2 * kMiB;

// Expandable segments reserve addresses once and map pages later: each pool has a range of its own.
constexpr Bytes kExpandableRange = Bytes{1} << 60;

Bytes segment_size(Bytes size) {
  if (size <= kSmallSize) return kSmallBuffer;
  if (size < kMinLargeAlloc) return kLargeBuffer;
  return round_up(size, kRoundLarge);
}

}  // namespace

Bytes CachingAllocator::malloc(Bytes size) {
  const Bytes rounded = round_up(size, kMinBlockSize);
  const Pool pool = rounded <= kSmallSize ? kSmall : kLarge;
  auto block = take_free(pool, rounded);
  if (block == blocks_.end()) {
    block =
        segments_ == Segments::kExpandable ? grow(pool, rounded) : new_segment(pool, segment_size(rounded));
  }
  const Bytes rest = block->second.size - rounded;
  if (is_split(pool, rest)) {
    block->second.size = rounded;
    const Block remainder{.size = rest, .segment = block->second.segment, .pool = pool, .is_free = false};
    set_free(blocks_.emplace(block->first + rounded, remainder).first);
  }
  return block->first;
}

void CachingAllocator::free(Bytes address) {
  auto block = blocks_.find(address);
  if (block == blocks_.end() || block->second.is_free) {
    throw InputError(fmt::format("free of {}: no block begins there", address));
  }
  const auto joins = [&](Blocks::iterator other) {
    return other->second.is_free && other->second.segment == block->second.segment;
  };
  if (const auto after = std::next(block); after != blocks_.end() && joins(after)) {
    unset_free(after);
    block->second.size += after->second.size;
    blocks_.erase(after);
  }
  if (block != blocks_.begin() && joins(std::prev(block))) {
    const auto before = std::prev(block);
    unset_free(before);
    before->second.size += block->second.size;
    blocks_.erase(block);
    block = before;
  }
  set_free(block);
}

CachingAllocator::Blocks::iterator CachingAllocator::take_free(Pool pool, Bytes size) {
  const auto best = free_[pool].lower_bound({size, -1});
  if (best == free_[pool].end()) return blocks_.end();
  const auto block = blocks_.find(best->second);
  unset_free(block);
  return block;
}

CachingAllocator::Blocks::iterator CachingAllocator::new_segment(Pool pool, Bytes size) {
  const Block block{.size = size, .segment = segment_count_++, .pool = pool, .is_free = false};
  const auto added = blocks_.emplace(next_address_, block).first;
  next_address_ += size;
  reserved_ += size;
  return added;
}

// Maps whole pages behind the pool's segment; a free block at its end becomes part of the new one.
CachingAllocator::Blocks::iterator CachingAllocator::grow(Pool pool, Bytes size) {
  const Bytes end = pool * kExpandableRange + grown_[pool];
  Block block{.size = size, .segment = pool, .pool = pool, .is_free = false};
  Bytes begin = end;
  auto last = blocks_.lower_bound(end);
  if (last != blocks_.begin() && std::prev(last)->second.pool == pool && std::prev(last)->second.is_free) {
    --last;
    begin = last->first;
    unset_free(last);
    blocks_.erase(last);
  }
  const Bytes pages = round_up(size - (end - begin), pool == kSmall ? kSmallBuffer : kLargeBuffer);
  block.size = end - begin + pages;
  grown_[pool] += pages;
  reserved_ += pages;
  return blocks_.emplace(begin, block).first;
}

bool CachingAllocator::is_split(Pool pool, Bytes rest) const {
  if (pool == kSmall || segments_ == Segments::kExpandable) return rest >= kMinBlockSize;
  return rest > kSmallSize;
}

void CachingAllocator::set_free(Blocks::iterator block) {
  block->second.is_free = true;
  free_[block->second.pool].emplace(block->second.size, block->first);
}

void CachingAllocator::unset_free(Blocks::iterator block) {
  block->second.is_free = false;
  free_[block->second.pool].erase({block->second.size, block->first});
}

}  // namespace ebb::layout
