#include "layout/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "trace/error.h"

namespace ebb::layout {

BestFitPool::BestFitPool(const PoolOptions& options) : options_(options) {
  add_hole(options.base, options.capacity);
}

std::optional<Bytes> BestFitPool::malloc(Bytes size) {
  if (size > options_.capacity) return std::nullopt;
  const Bytes rounded = round_up(size, options_.granularity);
  const auto best = by_size_.lower_bound({rounded, std::numeric_limits<Bytes>::min()});
  if (best == by_size_.end()) return std::nullopt;
  const auto [hole_size, address] = *best;
  remove_hole(holes_.find(address));
  if (hole_size > rounded) add_hole(address + rounded, hole_size - rounded);
  blocks_.emplace(address, rounded);
  in_use_ += rounded;
  footprint_ = std::max(footprint_, address + rounded - options_.base);
  return address;
}

void BestFitPool::free(Bytes address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) throw InputError(fmt::format("free of {}: no block begins there", address));
  Bytes begin = address;
  Bytes end = address + block->second;
  in_use_ -= block->second;
  blocks_.erase(block);

  const auto after = holes_.lower_bound(begin);
  if (after != holes_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      remove_hole(before);
    }
  }
  if (after != holes_.end() && after->first == end) {
    end += after->second;
    remove_hole(after);
  }
  add_hole(begin, end - begin);
}

void BestFitPool::add_hole(Bytes address, Bytes size) {
  holes_.emplace(address, size);
  by_size_.emplace(size, address);
}

void BestFitPool::remove_hole(std::map<Bytes, Bytes>::iterator hole) {
  by_size_.erase({hole->second, hole->first});
  holes_.erase(hole);
}

}  // namespace ebb::layout
