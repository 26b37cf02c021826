// One training iteration, normalised: what planners decide on and the simulator runs.
//
//   op        0    1    2    3    4    5          n = 6 ops, then op 0 again
//   weight    R....R....R....R....W....:  persistent: lives across the boundary
//   act            W.........R            local: birth 1, death 3
//   grad      ..R            W....R....:  wrapping: birth 3, death 1 of the next iteration
//
// A Program is immutable: `Program::build` checks every rule and derives content versions, so that everyone
// after it may index without looking.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace/quantities.h"

namespace ebb {

enum class Phase : char { unknown = '?', forward = 'F', backward = 'B', zero_grad = 'Z', update = 'U' };

// What an op does with a block. At most one Access per op and block.
// side_effect: the block must be resident and its bytes may change, but for replay the access is neither an
// input nor a change of version (batch-norm running statistics).
struct Access {
  BlockId block = 0;
  bool reads = false;
  bool writes = false;
  bool side_effect = false;
  bool operator==(const Access&) const = default;
};

struct Op {
  std::string name = {};
  Phase phase = Phase::unknown;
  Nanoseconds duration = 0;
  Nanoseconds issue = 0;  // earliest start, counted from the end of the previous iteration's last op
  Bytes workspace = 0;    // peak bytes inside the op beyond its births
  bool replayable = true;
  bool random = false;
  std::vector<Access> accesses = {};
  // In malloc order; filled in by build() from the blocks if left empty everywhere.
  std::vector<BlockId> births = {};
  bool operator==(const Op&) const = default;
};

enum class Lifetime : char { local, persistent, wrapping };

// Resident at ops birth … death inclusive (it is gone when op `death` has ended); a wrapping block from its
// birth over the boundary to `death` < `birth`. Persistent blocks have birth = death = kNoOp.
struct Block {
  Bytes bytes = 0;
  Lifetime lifetime = Lifetime::local;
  OpIndex birth = kNoOp;
  OpIndex death = kNoOp;
  bool operator==(const Block&) const = default;
};

// A content version of a block: what one write left in it.
inline constexpr OpIndex kCarried = -1;    // written before this iteration
inline constexpr OpIndex kUndefined = -2;  // allocated, never written
struct Version {
  BlockId block = 0;
  OpIndex writer = kUndefined;
};

// One access of a block seen from the block. `version` is the content after the op.
struct BlockAccess {
  OpIndex op = 0;
  bool reads = false;
  bool writes = false;  // side effects included: the bytes change
  VersionId version = 0;
};

// What an op makes when it is run (again). `replaces` is the version of the same block it turns into the new
// one in place, or -1 if the content is made from nothing.
struct OpOutput {
  VersionId version = 0;
  VersionId replaces = -1;
};

struct ProgramInfo {
  std::string name = {};
  Bytes unmanaged = 0;                 // fixed bytes nobody decides about
  Bytes smallest_managed = 64 * kKiB;  // blocks below this never move
  Nanoseconds measured_step = 0;       // wall time of a plain step, 0 if unknown
};

class Program {
 public:
  // Throws InputError naming op and block if an access lies outside a block's life, a block has two accesses
  // in one op, an index does not exist, or a size or time is negative or their sum overflows.
  static Program build(ProgramInfo info, std::vector<Op> ops, std::vector<Block> blocks);

  const ProgramInfo& info() const { return info_; }
  OpIndex op_count() const { return static_cast<OpIndex>(ops_.size()); }
  BlockId block_count() const { return static_cast<BlockId>(blocks_.size()); }
  const Op& op(OpIndex i) const { return ops_[static_cast<std::size_t>(i)]; }
  const Block& block(BlockId b) const { return blocks_[static_cast<std::size_t>(b)]; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Block>& blocks() const { return blocks_; }

  // Is the block large enough to be decided about, and ever accessed?
  bool managed(BlockId b) const {
    return block(b).bytes >= info_.smallest_managed && block(b).bytes > 0 && !accesses(b).empty();
  }

  // The block's accesses in op order. For a wrapping block those with op <= death belong to the instance born
  // in the previous iteration. Its birth counts as an access.
  std::span<const BlockAccess> accesses(BlockId b) const;
  const std::vector<Version>& versions() const { return versions_; }
  const Version& version(VersionId v) const { return versions_[static_cast<std::size_t>(v)]; }
  // The versions an op needs to be run again: what it read, and what it wrote into in place.
  std::span<const VersionId> inputs(OpIndex i) const;
  std::span<const OpOutput> outputs(OpIndex i) const;
  // The content a block has before its first access: its id; a wrapping block also gets an undefined one at
  // birth.
  VersionId version_at_birth(BlockId b) const { return version_at_birth_[static_cast<std::size_t>(b)]; }
  // The blocks that are gone when the op has ended.
  std::span<const BlockId> deaths(OpIndex i) const;
  // Bytes of all blocks born in the op.
  Bytes birth_bytes(OpIndex i) const { return birth_bytes_[static_cast<std::size_t>(i)]; }

  // Bytes resident while op i runs with nothing moved: its births in, its workspace and unmanaged bytes not.
  const std::vector<Bytes>& load() const { return load_; }
  // load + workspace + unmanaged: what a limit is compared with.
  Bytes demand(OpIndex i) const {
    return load_[static_cast<std::size_t>(i)] + op(i).workspace + info_.unmanaged;
  }
  Bytes peak_load() const;
  Bytes peak_demand() const;
  OpIndex peak_op() const;  // the first op at which the demand peaks
  Nanoseconds compute_time() const { return compute_time_; }

 private:
  Program() = default;
  void check() const;
  void fill_births();
  void derive_deaths();
  void derive_versions();
  void derive_load();

  ProgramInfo info_;
  std::vector<Op> ops_;
  std::vector<Block> blocks_;
  std::vector<Version> versions_;
  std::vector<BlockAccess> block_accesses_;
  std::vector<std::uint32_t> block_first_;  // CSR into block_accesses_
  std::vector<VersionId> inputs_;
  std::vector<std::uint32_t> input_first_;
  std::vector<OpOutput> outputs_;
  std::vector<std::uint32_t> output_first_;
  std::vector<VersionId> version_at_birth_;
  std::vector<BlockId> deaths_;
  std::vector<std::uint32_t> death_first_;
  std::vector<Bytes> birth_bytes_;
  std::vector<Bytes> load_;
  Nanoseconds compute_time_ = 0;
};

}  // namespace ebb
