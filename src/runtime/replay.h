// One replay: the steps of a recipe, run again on temporaries.
//
// A temporary stands for one version of a block; a step that changed a block in place changes its temporary
// in place. Temporaries are blocks of their own: between steps they may go to the host like any other, so a
// step needs no more memory at once than it needed the first time. What a step makes goes to the dropped
// block it belongs to, if there is one, at once; else it stays while a later step reads it.
#pragma once

#include <map>
#include <unordered_map>

#include "runtime/remaker.h"

namespace ebb {

class Replay {
 public:
  // For the dropped block `target`; others that are made on the way stay too if the guide does not mind.
  Replay(const RuntimeParts& parts, Handle target, ReplayRecipe recipe);
  ~Replay();  // lets all temporaries go
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void run();

 private:
  struct Temporary {
    PagedBlock* block = nullptr;
    std::int64_t version = 0;
  };
  // The blocks a step runs on, by the handles its function knows.
  struct Cast {
    std::unordered_map<Handle, PagedBlock*> by_handle;
    std::vector<PagedBlock*> blocks;                                  // to be pinned together
    std::vector<PagedBlock*> changed;                                 // of these, in place
    std::vector<std::pair<PagedBlock*, PagedBlock*>> scratch_copies;  // to, from
    std::vector<BlockHold> keeps;
  };

  void run_step(std::size_t index);
  Cast cast_of(const Step& step);
  bool try_function(const Step& step, Cast& cast, bool may_abandon);
  void settle_outputs(const Step& step, std::size_t index);
  PagedBlock* block_for(const StepInput& input);
  PagedBlock& add_temporary(Handle stands_for, Bytes bytes, std::int64_t version);
  void remove_temporary(Handle stands_for);
  void remove_scratch();
  bool read_later(Handle block, std::int64_t version, std::size_t index) const;

  const RuntimeParts& parts_;
  Handle target_;
  ReplayRecipe recipe_;
  std::map<std::pair<Handle, std::int64_t>, std::size_t> last_reader_;  // index into the steps
  std::unordered_map<Handle, Temporary> temporaries_;
  std::vector<PagedBlock*> scratch_;  // of the step that runs: side effects
  std::vector<Handle> returned_;      // dropped blocks that are back
  std::vector<BlockHold> keeps_;      // on leaves and on what came back
};

}  // namespace ebb
