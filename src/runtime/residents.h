// Which blocks lie where on the device. They are put in order when somebody asks, which is seldom while a
// plan is followed: until then it is only noted who came and went, and after too many, nothing.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/block.h"

namespace ebb {

class Residents {
 public:
  // REQUIRES: the table outlives this and has all the blocks.
  explicit Residents(const BlockTable& table) : table_(table) {}

  // The block is resident from now on, at its region; until now another one may have been there.
  void add(PagedBlock& block) { note({block.at.region.offset, &block}); }
  // It is about to leave its region.
  void remove(const PagedBlock& block) { note({block.at.region.offset, nullptr}); }
  // By offset; void after a change.
  const OffsetMap<PagedBlock*>& in_order() {
    if (must_list_)
      list();
    else
      catch_up();
    return by_offset_;
  }

 private:
  struct Change {
    Bytes offset = 0;
    PagedBlock* block = nullptr;  // nullptr: it left
  };
  static constexpr std::size_t kFewChanges = 1024;  // cost less than to list all blocks, however few they are

  void note(const Change& change) {
    if (must_list_) return;
    if (changes_.size() < kFewChanges + by_offset_.size()) return changes_.push_back(change);
    must_list_ = true;
    changes_.clear();
  }
  void catch_up() {
    for (const Change& change : changes_) {
      const auto at = by_offset_.at_or_before(change.offset);
      const bool known = at != by_offset_.end() && at->first == change.offset;
      if (!change.block)
        by_offset_.erase(at);
      else if (known)
        at->second = change.block;
      else
        by_offset_.insert_behind(at, change.offset, change.block);
    }
    changes_.clear();
  }
  void list() {
    std::vector<PagedBlock*> blocks;
    table_.for_each([&](const PagedBlock& block) {
      if (block.resident()) blocks.push_back(const_cast<PagedBlock*>(&block));
    });
    std::sort(blocks.begin(), blocks.end(), [](const PagedBlock* a, const PagedBlock* b) {
      return a->at.region.offset < b->at.region.offset;
    });
    by_offset_ = {};
    for (PagedBlock* block : blocks) by_offset_.emplace(block->at.region.offset, block);
    must_list_ = false;
  }

  const BlockTable& table_;
  bool must_list_ = false;            // there were too many changes to note
  std::vector<Change> changes_;       // since they were put in order
  OffsetMap<PagedBlock*> by_offset_;  // as they were then
};

}  // namespace ebb
