// One replay: the steps of one recipe or of several, run again on temporaries, each once and in order of
// execution.
//
// A temporary stands for one version of a block; a step that changed a block in place changes its temporary
// in place. Temporaries are blocks of their own: between steps they may go to the host like any other, so a
// step needs no more memory at once than it needed the first time. What a step makes goes to the dropped
// block it belongs to, if there is one, at once; else it stays while a later step reads it.
#pragma once

#include "runtime/replay_frame.h"

namespace ebb {

class Replay {
 public:
  explicit Replay(const RuntimeParts& parts) : parts_(parts) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Brings the targets back; other dropped blocks that are made on the way stay too if the guide does not
  // mind. All temporaries are gone afterwards, whatever happens; what they were listed in stays, for the
  // next time. REQUIRES: all are dropped.
  void run(std::span<PagedBlock* const> targets);

 private:
  struct Temporary {
    Handle stands_for = 0;
    PagedBlock* block = nullptr;
    std::int64_t version = 0;
  };
  // A step, by its index, reads a version.
  struct Reading {
    Handle block = 0;
    std::int64_t version = 0;
    std::size_t step = 0;
    auto operator<=>(const Reading&) const = default;
  };

  void begin(std::span<PagedBlock* const> targets);
  void end();
  void run_step(std::size_t index);
  void cast(const Step& step);
  bool try_function(const Step& step, bool may_abandon);
  void run_function(const Step& step, ReplayFrame& frame);
  void pin(const Step& step, std::span<PagedBlock* const> blocks, Bytes inside);
  void settle_outputs(const Step& step, std::size_t index);
  PagedBlock* block_for(const StepInput& input);
  // nullptr: there is none.
  Temporary* temporary(Handle stands_for);
  void remove_temporary(Handle stands_for);
  void remove_scratch();
  bool read_later(Handle block, std::int64_t version, std::size_t index) const;

  const RuntimeParts& parts_;
  std::vector<Handle> targets_;
  std::vector<StepId> steps_;      // in order of execution
  std::vector<Handle> leaves_;     // what they read and do not make
  std::vector<Reading> readings_;  // sorted
  std::vector<Temporary> temporaries_;
  ReplayCast cast_;                   // of the step that runs
  std::vector<PagedBlock*> scratch_;  // of the step that runs: side effects
  std::vector<Handle> returned_;      // dropped blocks that are back
  KeptBlocks keeps_;                  //  leaves and on what came back
};

}  // namespace ebb
