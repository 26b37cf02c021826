// What losing a content costs by DTR's three measures: the op that makes it, and with it …
//   local          nothing more
//   neighbourhood  every lost content it would be made from, and every lost one made from it, recursively
//   classes        the same by union-find: contents lost beside each other form a class; one that returns
//                  leaves its class with its own cost only
#pragma once

#include <vector>

#include "machine/machine.h"
#include "trace/program.h"

namespace ebb {

enum class LossMeasure : char { local, neighbourhood, classes };

class EvictedCosts {
 public:
  EvictedCosts(const Program& program, const Machine& machine, LossMeasure measure);

  // The content has been made, by its op or again.
  void found(VersionId v);
  // It is no longer on the device: evicted, overwritten or freed.
  void lost(VersionId v);
  // REQUIRES: v is not lost.
  Nanoseconds cost(VersionId v);

 private:
  enum class State : char { unmade, present, lost };

  const std::vector<VersionId>& parents(VersionId v) const { return parents_[static_cast<std::size_t>(v)]; }
  const std::vector<VersionId>& children(VersionId v) const { return children_[static_cast<std::size_t>(v)]; }
  State state(VersionId v) const { return state_[static_cast<std::size_t>(v)]; }
  Nanoseconds own(VersionId v) const { return own_[static_cast<std::size_t>(v)]; }
  Nanoseconds lost_neighbourhood(VersionId v);
  Nanoseconds neighbouring_classes(VersionId v);
  void forget_around(VersionId v);
  std::size_t root(std::size_t node);

  const LossMeasure measure_;
  std::vector<std::vector<VersionId>> parents_, children_;
  std::vector<Nanoseconds> own_;
  std::vector<State> state_;
  std::vector<Nanoseconds> known_;  // cost by version, -1: to be computed
  std::vector<std::int64_t> seen_;
  std::int64_t round_ = 0;
  std::vector<VersionId> stack_;
  // classes: a node per loss, as one that returns gets a new one
  std::vector<std::size_t> node_of_;
  std::vector<std::size_t> up_;
  std::vector<Nanoseconds> sum_;
};

}  // namespace ebb
