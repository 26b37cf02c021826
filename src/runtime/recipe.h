// How the content of blocks came about, so that it can be made again: the last op instances that may be
// replayed, and for each dropped block the steps and the blocks ("leaves") its replay needs. Ids only:
// nothing here keeps a block alive.
//
// Held at all times: every dropped block has a recipe, the recipe's steps are there, and its leaves exist,
// are not dropped themselves and hold the version the steps read. Whoever is about to break that — frees or
// overwrites a leaf, drops one, lets a step expire — first calls `detach` or `expiring`, and remakes or keeps
// what these name (docs/notes/runtime.md).
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/block.h"

namespace ebb {

struct StepInput {
  Handle block = 0;
  std::int64_t version = 0;
  StepId maker = kNoStep;  // of that version
};

struct StepOutput {
  Handle block = 0;
  Bytes bytes = 0;
  std::int64_t version = 0;  // after the op
  bool in_place = false;     // made by changing the version before it, which is also an input
  bool birth = false;        // malloc'd in the op
};

// A block by handle and size.
struct SizedHandle {
  Handle block = 0;
  Bytes bytes = 0;
};

// One executed op, in one piece of memory: what a replay reads was written an iteration ago.
struct Step {
  ExecFunction function = {};
  FlatSet<Handle, 2> dependents = {};        // dropped blocks whose recipe has it
  std::uint64_t seen = 0;                    // the search for a recipe that met it last
  std::optional<Nanoseconds> duration = {};  // unknown until its events have happened
  std::int64_t at = 0;                       // in ops
  Few<StepInput, 4> inputs = {};
  OpIndex planned_op = kNoOp;  // which op of the iteration that is followed
  std::uint64_t seed = 0;
  Bytes inside_peak = 0;  // of the memory malloc'd in the op
  Few<StepOutput, 2> outputs = {};
  Few<SizedHandle, 2> births = {};  // in malloc order, those freed in the op too
  Few<SizedHandle, 2> side_effects = {};
  Few<char, 48> letters = {};  // of its name

  std::string_view name() const { return {letters.begin(), letters.end()}; }
  // For another op; keeps the memory it has.
  void clear();
};

struct ReplayRecipe {
  Few<StepId, 4> steps;   // in order of execution
  Few<Handle, 6> leaves;  // what the steps read and do not make
  Bytes bytes_away = 0;   // of leaves on the host
  std::optional<Nanoseconds> duration = {};
  std::size_t longest = 0;  // it may grow to, when leaves go
};

struct RecipeOptions {
  std::size_t most_steps = 65'536;            // op instances that are remembered
  std::size_t longest_recipe = 64;            // steps a block may be dropped for on a guess
  std::size_t longest_planned_recipe = 4096;  // and because a plan says so
};

class RecipeBook {
 public:
  // REQUIRES: the table outlives the book.
  RecipeBook(BlockTable& table, const RecipeOptions& options) : options_(options), table_(table) {}

  const BlockTable& table() const { return table_; }
  // A step to be filled and recorded.
  std::unique_ptr<Step> blank();
  StepId record(std::unique_ptr<Step> step);
  const Step& step(StepId id) const { return *steps_[place_of(id)].step; }
  void set_duration(StepId id, Nanoseconds duration);
  void set_planned_op(StepId id, OpIndex op) { at(id).planned_op = op; }
  // Of the op that made the block's content: at least what a replay takes. Nothing if it cannot be replayed.
  std::optional<Nanoseconds> maker_duration(const PagedBlock& block) const;

  // A recipe for a block that is not dropped, of at most so many steps; nothing if there is none.
  std::optional<ReplayRecipe> recipe_for(const PagedBlock& block, std::size_t longest);
  std::optional<ReplayRecipe> recipe_for(const PagedBlock& block) {
    return recipe_for(block, options_.longest_recipe);
  }
  const RecipeOptions& options() const { return options_; }
  // The block is dropped from now on: REQUIRES that the caller takes its bytes away. Returns false if it must
  // not be, because a dropped block needs its content and has no other recipe.
  bool drop(PagedBlock& block, ReplayRecipe recipe);
  // What brings the dropped block back as things are now: its recipe, or the part of it that is enough.
  // Leaves of its own it may read while they are about to change, because they are asked about before; others
  // may have changed already. Void after the next call.
  const ReplayRecipe& recipe_of(const PagedBlock& block);
  // The dropped block is back, or nobody wants it any more.
  void forget(Handle block);

  // Makes recipes that read the block's content do without it; those for which there is no other way are
  // returned.
  std::vector<Handle> detach(PagedBlock& block);
  bool needed(const PagedBlock& block) const { return !block.dependents.empty(); }
  // Blocks that were leaves of a recipe since the last call and are no longer needed by any.
  bool any_released() const { return !released_.empty(); }
  // Into `released`, whose memory it takes in exchange.
  void take_released(std::vector<Handle>& released) {
    released.clear();
    released.swap(released_);
  }

  // Steps that are older than so many ops help nobody. Nothing: nobody knows.
  void set_horizon(std::optional<std::int64_t> ops) { horizon_ = ops; }
  // Is the book full, or its oldest step too old at op `now`? Then it may be forgotten once nobody depends on
  // it: `expiring` finds other recipes and returns those for which there is none.
  bool full(std::int64_t now) const {
    return next_ - first_ > static_cast<StepId>(options_.most_steps) ||
           (horizon_ && first_ < next_ && oldest_at_ < now - *horizon_);
  }
  std::vector<Handle> expiring();
  void expire_oldest();

  std::size_t steps() const { return static_cast<std::size_t>(next_ - first_); }
  std::vector<Handle> dropped_blocks();

 private:
  // Into `found_`; what is in it has `search_` as its `seen`. `trusted`: leaves that may be read although
  // they are about to change. false: it takes more than `most_steps`, or there is none.
  bool find(const PagedBlock& block, std::span<const Handle> trusted, StepId oldest, std::size_t most_steps);
  // The block that is the input; nullptr if it cannot be a leaf.
  PagedBlock* available(const StepInput& input, std::span<const Handle> trusted) const;
  // A step that is remembered, and when it ran: who forgets steps asks that of the one behind, too.
  struct Remembered {
    std::unique_ptr<Step> step;
    std::int64_t at = 0;
  };
  std::size_t place_of(StepId id) const { return static_cast<std::size_t>(id) & (steps_.size() - 1); }
  Remembered& remembered(StepId id) { return steps_[place_of(id)]; }
  Step& at(StepId id) { return *remembered(id).step; }
  void widen();
  void enter(Handle block, const ReplayRecipe& recipe);
  void leave(Handle block);
  void leave_leaf(Handle block, PagedBlock& leaf);
  bool rebase(Handle dropped);
  std::vector<Handle> rebase_all(std::span<const Handle> dropped);

  StepId first_ = 0;            // the oldest step there is …
  StepId next_ = 0;             // … and the first that there will be
  std::int64_t oldest_at_ = 0;  // its op, if there is one
  std::optional<std::int64_t> horizon_;
  std::vector<Handle> released_;
  RecipeOptions options_;
  BlockTable& table_;
  StepId usable_from_ = 0;                     // the oldest that a new recipe may have
  std::vector<Remembered> steps_;              // a ring, by id; as many as a power of two
  std::vector<std::unique_ptr<Step>> blanks_;  // that were steps before
  HandleMap<ReplayRecipe> recipes_;            // of dropped blocks
  std::uint64_t search_ = 0;
  // Kept so that they allocate nothing in the long run.
  ReplayRecipe found_;
  std::vector<Handle> rebased_;
};

}  // namespace ebb
