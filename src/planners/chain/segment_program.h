// The optimal persistent checkpointing of a heterogeneous chain, by dynamic programming over (segment,
// memory): a segment's first stage is stored, or its input stays and everything up to a later cut runs again
// when its turn comes. With a price of the link, what the first forward pass made may also leave.
//
//   segment [s, t]     store s, then [s + 1, t]
//                      or run s … c − 1, keep what crosses cut c, do [c, t], then [s, c − 1] from its input
//
// Everything is counted in slots of memory; what runs again, in nanoseconds. See docs/notes/chain.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planners/chain/chain_program.h"

namespace ebb {

// A way to store what a stage makes for backward.
struct StoreOption {
  Slots held = 0;          // until the stage's backward
  Nanoseconds rerun = 0;   // what is not stored is made again from what is
  Nanoseconds copies = 0;  // on the link, if it leaves: only what the first forward pass makes can
  bool operator==(const StoreOption&) const = default;
};

// Needs leave out what is stored of other stages and what crosses the cut in front.
struct SegmentStage {
  Nanoseconds rerun = 0;          // of its forward
  Nanoseconds rerun_as_last = 0;  // the same if what crosses the cut behind it is there
  Slots pass_first = 0;           // need while it runs and nothing of it is stored
  Slots pass_again = 0;           // … in a replay, beside what the backward pass has there by then
  Slots store_first = 0;          // need while it runs and all of it is stored
  Slots store_again = 0;
  Slots backward = 0;                     // need of its backward
  Slots beside = 0;                       // what a replay for its backward finds there
  Slots dead_input = 0;                   // of what crosses the cut in front: what backward does not read
  std::vector<StoreOption> options = {};  // the first: all of it, nothing leaves
  bool operator==(const SegmentStage&) const = default;
};

// What stages s … c − 1 make and stages from c on read in forward.
struct Crossing {
  Slots held = 0;     // what backward reads too
  Slots passing = 0;  // and what it does not
  Nanoseconds copies = 0;
  bool operator==(const Crossing&) const = default;
};

struct SegmentChain {
  std::vector<SegmentStage> stages = {};
  std::vector<std::vector<Crossing>> crossings = {};  // [s][c − s], 0 <= c − s

  std::size_t size() const { return stages.size(); }
  const Crossing& crossing(std::size_t s, std::size_t c) const { return crossings[s][c - s]; }
};

struct SegmentPolicy {
  struct Stage {
    int level = 0;  // how often it runs again before it is stored
    std::size_t option = 0;
    bool operator==(const Stage&) const = default;
  };
  struct Cut {
    int level = -1;  // of the run whose results are kept here; -1: none is
    bool moved = false;
    bool operator==(const Cut&) const = default;
  };
  std::vector<Stage> stages = {};
  std::vector<Cut> cuts = {};  // cut c lies in front of stage c
  Nanoseconds cost = 0;        // runs again, and copies at their price
  bool operator==(const SegmentPolicy&) const = default;
};

class SegmentProgram {
 public:
  // REQUIRES: at least one stage; the chain outlives it.
  SegmentProgram(const SegmentChain& chain, Slots memory, bool may_rerun);

  Slots memory() const { return memory_; }
  // The price of a nanosecond on the link; nullopt: nothing leaves. REQUIRES: called before best_policy.
  void set_link_price(std::optional<double> price);
  // Nothing if none keeps the memory. REQUIRES: 0 <= memory <= that of the constructor.
  std::optional<SegmentPolicy> best_policy(Slots memory) const;

 private:
  struct Choice {
    std::int32_t cut = -1;  // -1: the first stage is stored
    std::int16_t option = 0;
    bool moved = false;
  };
  struct Entry {
    Nanoseconds cost = 0;
    Choice choice = {};
  };

  void solve(std::size_t s, std::size_t t);
  void offer_stores(std::size_t s, std::size_t t);
  void offer_cuts(std::size_t s, std::size_t t);
  void offer_cut(std::size_t s, std::size_t t, std::size_t c, Slots need);
  void trace(std::size_t s, std::size_t t, Slots memory, int level, SegmentPolicy& policy) const;
  bool is_again(std::size_t t) const { return t + 1 < chain_.size(); }
  Nanoseconds price_of(Nanoseconds copies) const;
  Entry* at(std::size_t s, std::size_t t) { return &table_[(s * chain_.size() + t) * width_]; }
  const Entry* at(std::size_t s, std::size_t t) const { return &table_[(s * chain_.size() + t) * width_]; }

  const SegmentChain& chain_;
  const Slots memory_;
  const bool may_rerun_;
  const std::size_t width_;
  std::optional<double> price_;
  std::vector<Nanoseconds> rerun_before_;  // Σ rerun of the stages in front
  std::vector<Entry> table_;               // [s][t][memory]
};

}  // namespace ebb
