// The pieces of the fluid bound: where memory is looked at, and which blocks behave alike.
#pragma once

#include <utility>
#include <vector>

#include "simulate/bound_problem.h"

namespace ebb {

// The ops at whose start memory must suffice; slice s of the step lies between the starts of checkpoints s
// and s + 1. Checkpoint 0 is op 0. Indices are unrolled like ops: checkpoint count() + s is checkpoint s of
// the next iteration.
class Checkpoints {
 public:
  // The neediest op of each of `slices` parts of the ops that need something.
  Checkpoints(const std::vector<Bytes>& need, const std::vector<Nanoseconds>& op_time, int slices);

  int count() const { return static_cast<int>(ops_.size()); }
  const std::vector<OpIndex>& ops() const { return ops_; }
  // The first and last checkpoint strictly between two unrolled ops; first > last if there is none.
  std::pair<int, int> between(OpIndex from, OpIndex to) const;
  // The slice in which an op runs.
  int slice_of(OpIndex unrolled) const;
  Nanoseconds compute_time(int slice, const std::vector<Nanoseconds>& op_time) const;

 private:
  OpIndex op_count_;
  std::vector<OpIndex> ops_;
};

struct ContentGap {
  int first = 0;  // checkpoints at which it may be absent
  int last = 0;
  bool returns = true;
  std::vector<const Absence*> members;
};

// Contents (what one write left in a block) that are written in the same slice and have gaps at the same
// checkpoints: one set of columns stands for all of them. Times are the sums over the members, each at the
// best rate among them.
struct ContentClass {
  bool has_host_copy = false;
  int write_slice = 0;           // where the copy-out may begin
  std::vector<ContentGap> gaps;  // in order of time
  double bytes = 0;
  double out_time = 0;
  double in_time = 0;
};

std::vector<ContentClass> classify(const std::vector<const Absence*>& gaps, const BoundProblem& problem,
                                   const Checkpoints& points);

}  // namespace ebb
