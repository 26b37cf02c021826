// Bytes per op with the two operations that placing copy-ins needs, both logarithmic: add over a range, and
// find how far back a block may already be present. Time is cyclic; positions are unrolled.
#pragma once

#include <vector>

#include "trace/quantities.h"

namespace ebb {

class Room {
 public:
  void assign(const std::vector<Bytes>& need);
  // Adds bytes at ops [begin, end), unrolled; end - begin <= n.
  void add(OpIndex begin, OpIndex end, Bytes bytes);
  // The smallest p in [begin, end] such that need + bytes <= limit at all ops in [p, end).
  OpIndex earliest(OpIndex begin, OpIndex end, Bytes bytes, Bytes limit) const;
  void copy_to(std::vector<Bytes>& need) const;

 private:
  void add_below(std::size_t node, OpIndex node_begin, OpIndex node_end, OpIndex begin, OpIndex end,
                 Bytes bytes);
  // The last op in [begin, end) whose need exceeds `most`, or -1.
  OpIndex last_above(std::size_t node, OpIndex node_begin, OpIndex node_end, OpIndex begin, OpIndex end,
                     Bytes most) const;
  void collect(std::size_t node, OpIndex node_begin, OpIndex node_end, Bytes carried,
               std::vector<Bytes>& need) const;

  OpIndex ops_ = 0;
  OpIndex leaves_ = 1;
  std::vector<Bytes> highest_;  // of the subtree, additions to the node included, to its ancestors not
  std::vector<Bytes> added_;
};

}  // namespace ebb
