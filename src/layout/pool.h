// A best-fit pool over an address range, ordered by address, that joins free neighbours again. It serves the
// requests that a plan does not know, above the packed footprint. With base 0 it is also the model of cnmem:
// 512-byte granularity, the smallest hole that fits, the lowest of equal ones.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "layout/problem.h"

namespace ebb::layout {

struct PoolOptions {
  Bytes base = 0;                                          // the pool's addresses start here
  Bytes capacity = std::numeric_limits<Bytes>::max() / 2;  // bytes above the base
  Bytes granularity = kDefaultAlignment;                   // sizes are rounded up to it
};

// malloc and free take O(log n) for n blocks.
class BestFitPool {
 public:
  explicit BestFitPool(const PoolOptions& options = {});

  // The address of a new block; nothing if no hole is large enough. REQUIRES: size >= 1.
  std::optional<Bytes> malloc(Bytes size);
  // REQUIRES: `address` came from malloc and was not freed since; throws InputError otherwise.
  void free(Bytes address);

  Bytes in_use() const { return in_use_; }
  // Bytes from the base to the highest end of a block so far.
  Bytes footprint() const { return footprint_; }

 private:
  void add_hole(Bytes address, Bytes size);
  void remove_hole(std::map<Bytes, Bytes>::iterator hole);

  PoolOptions options_;
  std::map<Bytes, Bytes> blocks_;              // address -> size, of blocks in use
  std::map<Bytes, Bytes> holes_;               // address -> size
  std::set<std::pair<Bytes, Bytes>> by_size_;  // (size, address) of the holes
  Bytes in_use_ = 0;
  Bytes footprint_ = 0;
};

}  // namespace ebb::layout
