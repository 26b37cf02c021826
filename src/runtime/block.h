// A block as the runtime keeps it: where its bytes are, which content they are, and who needs it to stay.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/flat_set.h"
#include "runtime/handle_map.h"
#include "runtime/host_store.h"

namespace ebb {

using StepId = std::int64_t;  // an op instance that may be replayed, in order of execution
inline constexpr StepId kNoStep = -1;
inline constexpr Bytes kAnywhere = -1;  // no planned offset

// What an outsider sees. leaving: on the host as soon as a copy has ended; returning: the same the other way.
enum class BlockState : char { resident, leaving, on_host, returning, dropped, dead };

// The block's current content on the host.
struct HostCopy {
  HostPlace place;
  Event valid_from = kHappened;
  Event last_used = kHappened;  // a copy from or to it
};

// Where the bytes are. `none`: it has none yet; `dropped`: its content is to be made again.
struct Residence {
  enum class Place : char { none, device, host, dropped };
  Place place = Place::none;
  bool clean = false;              // the host has the content
  Region region = {};              // on the device
  Event arrived = kHappened;       // the region holds the content from then on
  Event copied_until = kHappened;  // a copy-out reads the region until then
  HostCopy host = {};              // if clean
};

// What every op looks at comes first: two cache lines of three, since between two ops a program uses up the
// cache.
struct alignas(64) PagedBlock {
  Handle handle = 0;
  Bytes bytes = 0;
  std::int64_t version = 0;   // content; 0: never written
  StepId maker = kNoStep;     // what made this content, if it can be run again
  std::int64_t last_use = 0;  // in ops
  std::int64_t next_use = 0;  // in ops, if it lies ahead; else unknown
  int pins = 0;               // > 0: stays where it is
  int keeps = 0;              // > 0: may go to the host, is not dropped
  int changing = 0;           // > 0: about to get other content, so no new recipe may count on this one
  bool stuck = false;         // one of the pins is for its whole life
  bool freed = false;  // by the program; its bytes stay for a pin or for a dropped block that needs them
  std::uint16_t listed_at = 0;         // among the operands listed last that had it: its place, modulo 65,536
  FlatSet<Handle, 1> dependents = {};  // dropped blocks whose recipe reads it
  Residence at = {};
  PagedBlock** follower = nullptr;  // where a plan keeps it by its own id; null when it dies
  Bytes home = kAnywhere;           // where a plan wants it when it returns
  std::uint64_t seen = 0;           // the search for a recipe that met it last

  bool resident() const { return at.place == Residence::Place::device; }
  bool dropped() const { return at.place == Residence::Place::dropped; }
  bool has_bytes() const { return resident() || at.place == Residence::Place::host; }
  bool clean() const { return at.clean; }
};
static_assert(sizeof(PagedBlock) == std::size_t{3} * 64);

// Counts on one of a block's counters while it lives.
class BlockHold {
 public:
  using Counter = int PagedBlock::*;
  BlockHold() = default;
  BlockHold(PagedBlock& block, Counter counter) : block_(&block), counter_(counter) { ++(block.*counter); }
  BlockHold(BlockHold&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), counter_(other.counter_) {}
  BlockHold& operator=(BlockHold&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(counter_, other.counter_);
    return *this;
  }
  ~BlockHold() {
    if (block_) --(block_->*counter_);
  }

 private:
  PagedBlock* block_ = nullptr;
  Counter counter_ = nullptr;
};

// Counts on one counter of several blocks, until it is cleared or goes; keeps the memory it has.
template <int PagedBlock::*kCounter>
class BlockHolds {
 public:
  BlockHolds() = default;
  BlockHolds(const BlockHolds&) = delete;
  BlockHolds& operator=(const BlockHolds&) = delete;
  ~BlockHolds() { clear(); }
  void add(PagedBlock& block) {
    blocks_.push_back(&block);
    ++(block.*kCounter);
  }
  void clear() {
    for (PagedBlock* block : blocks_) --(block->*kCounter);
    blocks_.clear();
  }
  std::size_t size() const { return blocks_.size(); }

 private:
  std::vector<PagedBlock*> blocks_;
};
using PinnedBlocks = BlockHolds<&PagedBlock::pins>;
using KeptBlocks = BlockHolds<&PagedBlock::keeps>;
using ChangingBlocks = BlockHolds<&PagedBlock::changing>;

// All blocks that have bytes or a recipe. References stay valid until the block is erased.
class BlockTable {
 public:
  PagedBlock& create(Bytes bytes) {
    if (free_.empty()) grow();
    const std::size_t slot = free_.back();
    free_.pop_back();
    PagedBlock& block = at(slot);
    auto memory = std::move(block.dependents);
    memory.clear();
    block =
        PagedBlock{.handle = make_handle(++serial_, slot), .bytes = bytes, .dependents = std::move(memory)};
    return block;
  }
  PagedBlock* find(Handle handle) {
    const std::size_t slot = slot_of(handle);
    if (handle == 0 || slot / kChunk >= chunks_.size() || at(slot).handle != handle) return nullptr;
    return &at(slot);
  }
  const PagedBlock* find(Handle handle) const { return const_cast<BlockTable*>(this)->find(handle); }
  // REQUIRES: it was created here.
  void erase(PagedBlock& block) {
    if (block.follower) *block.follower = nullptr;
    free_.push_back(slot_of(block.handle));
    block.handle = 0;
  }
  std::size_t size() const { return chunks_.size() * kChunk - free_.size(); }
  // Blocks that live have lower ones, those to come this or higher ones.
  Handle next_handle() const { return make_handle(serial_ + 1, 0); }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& chunk : chunks_)
      for (std::size_t i = 0; i < kChunk; ++i)
        if (chunk[i].handle != 0) visit(chunk[i]);
  }

 private:
  static constexpr std::size_t kChunk = 256;
  PagedBlock& at(std::size_t slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  void grow() {
    const std::size_t first = chunks_.size() * kChunk;
    chunks_.push_back(std::make_unique<PagedBlock[]>(kChunk));
    for (std::size_t i = kChunk; i-- > 0;) free_.push_back(first + i);
  }

  std::int64_t serial_ = 0;
  std::vector<std::unique_ptr<PagedBlock[]>> chunks_;  // by slot; handle 0: free
  std::vector<std::size_t> free_;                      // slots, the next one last
};

}  // namespace ebb
