// The forward pass as a row of places where it can be cut, and [SUB] Alg. 3, which chooses among them.
//
//   op      conv   bn   relu_   conv   bn   add_      a place lies after each op; what crosses it is what
//   x         ────────────────────────────          later forward ops still read; between relu_ and conv
//   y              ──────────                         two results cross: x and y
#pragma once

#include <vector>

#include "planners/recompute/mirror.h"

namespace ebb {

struct Stages {
  std::vector<OpIndex> cuts;  // the last op of each stage but the last one
  Bytes stored = 0;           // x: what is kept between the stages
  Bytes largest = 0;          // y: the most that one stage makes for backward
};

class ForwardPlaces {
 public:
  ForwardPlaces(const Program& program, const Gaps& gaps, const Mirror& mirror);

  // Places crossed by at least one and at most `width` results that nothing changes in place afterwards.
  std::vector<OpIndex> candidates(int width) const;
  // The widths at which there are more candidates than at the one before, doubling from 1.
  std::vector<int> widths() const;
  // Alg. 3: a stage ends at the first candidate at which it has made more than `budget`.
  Stages split(const std::vector<OpIndex>& candidates, Bytes budget) const;

  // The ops whose results cross the place.
  std::vector<OpIndex> makers_across(OpIndex place) const;
  // Bytes that ops up to and including `place` make for backward.
  Bytes made_until(OpIndex place) const { return made_until_[static_cast<std::size_t>(place)]; }
  OpIndex turn() const { return turn_; }

 private:
  struct Crossing {
    OpIndex maker = 0;     // of the content that crosses
    OpIndex last_use = 0;  // in forward
    Bytes bytes = 0;
  };

  const OpIndex turn_;
  std::vector<Crossing> crossings_;  // ascending by maker
  std::vector<int> width_;           // by place; 0: cannot be cut
  std::vector<Bytes> made_until_;
};

// Everything runs again once but what crosses the cuts.
MirrorCounts counts_of(const ForwardPlaces& places, const std::vector<OpIndex>& cuts);

}  // namespace ebb
