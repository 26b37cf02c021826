// Builds the replay for one position: the fewest ops that make the wanted versions, and the memory each step
// takes.
//
//   conv → bn → relu_ (in place on bn's output), all dropped; relu_'s version wanted:
//     step 0  bn     allocates 1 block
//     step 1  relu_  allocates nothing: it turns the temporary into the wanted version
#pragma once

#include <span>
#include <vector>

#include "plan/lowered.h"

namespace ebb {

enum class Whereabouts : char { resident, dropped, on_host, dead };

// Where every block is at a position, and which content it has.
struct Presence {
  std::vector<Whereabouts> where;  // by block
  std::vector<VersionId> current;  // by block
};

class ReplayBuilder {
 public:
  explicit ReplayBuilder(const Program& program);

  // Collects the ops that make `wanted`; false if a version cannot be made again: see missing().
  bool collect(const Presence& presence, std::span<const VersionId> wanted);
  VersionId missing() const { return missing_; }
  std::span<const OpIndex> ops() const { return ops_; }
  // Blocks on the host that the replay reads; they have to return.
  std::span<const BlockId> returns() const { return returns_; }
  // All versions the replay makes and uses, in no order.
  std::span<const VersionId> made() const { return made_; }

  // A made version that outlives the replay. The wanted ones do already.
  void keep(VersionId v) { kept_[static_cast<std::size_t>(v)] = round_; }
  bool kept(VersionId v) const { return kept_[static_cast<std::size_t>(v)] == round_; }
  // Spells out the steps with what is kept so far.
  void build_steps(OpIndex before);
  // The same as keep and build_steps. REQUIRES: the steps are spelled out, `v` is not kept yet and no step
  // changes it in place.
  void keep_in_steps(VersionId v);
  std::span<const ReplayStep> steps() const { return steps_; }
  // Bytes of temporaries while step k runs, its workspace included.
  Bytes usage(std::size_t step) const { return usage_[step]; }
  std::size_t last_reader(VersionId v) const { return last_reader_[static_cast<std::size_t>(v)]; }

 private:
  bool is_made(VersionId v) const { return made_in_[static_cast<std::size_t>(v)] == round_; }
  bool require(const Presence& presence, VersionId v);
  void sort_ops();

  const Program& program_;
  std::int64_t round_ = 0;
  VersionId missing_ = -1;
  std::vector<std::int64_t> made_in_;    // by version: the round in which it was found absent and needed
  std::vector<std::int64_t> kept_;       // by version
  std::vector<std::int64_t> op_in_;      // by op
  std::vector<std::int64_t> return_in_;  // by block
  std::vector<std::size_t> last_reader_;
  std::vector<VersionId> stack_;
  std::vector<VersionId> made_;
  std::vector<OpIndex> ops_;
  std::vector<BlockId> returns_;
  std::vector<ReplayStep> steps_;
  std::vector<Bytes> usage_;
};

}  // namespace ebb
