// Collects an op's accesses so that a block named several times (read and written, or read twice) has one
// Access.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/program.h"

namespace ebb {

class AccessList {
 public:
  // The block's Access, new and empty the first time. Valid until the next call.
  Access& of(BlockId block) {
    const auto [place, is_new] = places_.try_emplace(block, accesses_.size());
    if (is_new) accesses_.push_back({.block = block});
    return accesses_[place->second];
  }

  void read(BlockId block) { of(block).reads = true; }
  void write(BlockId block) { of(block).writes = true; }
  std::vector<Access> take() { return std::move(accesses_); }

 private:
  std::vector<Access> accesses_;
  std::unordered_map<BlockId, std::size_t> places_;
};

}  // namespace ebb
