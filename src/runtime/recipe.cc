#include "runtime/recipe.h"

#include <algorithm>
#include <cassert>

namespace ebb {
namespace {

constexpr std::size_t kMostBlanks = 64;
constexpr std::size_t kFirstSteps = 64;

}  // namespace

void Step::clear() {
  function = nullptr;
  dependents.clear();
  duration.reset();
  inputs.clear();
  planned_op = kNoOp;
  outputs.clear();
  births.clear();
  side_effects.clear();
  letters.clear();
}

std::unique_ptr<Step> RecipeBook::blank() {
  if (blanks_.empty()) return std::make_unique<Step>();
  std::unique_ptr<Step> step = std::move(blanks_.back());
  blanks_.pop_back();
  step->clear();
  return step;
}

void RecipeBook::widen() {
  const std::size_t size = std::max(kFirstSteps, 2 * steps_.size());
  std::vector<Remembered> narrower = std::exchange(steps_, std::vector<Remembered>(size));
  for (StepId id = first_; id < next_; ++id)
    remembered(id) = std::move(narrower[static_cast<std::size_t>(id) & (narrower.size() - 1)]);
}

StepId RecipeBook::record(std::unique_ptr<Step> step) {
  if (steps() == steps_.size()) widen();
  if (first_ == next_) oldest_at_ = step->at;
  const std::int64_t at = step->at;
  remembered(next_) = {std::move(step), at};
  return next_++;
}

void RecipeBook::set_duration(StepId id, Nanoseconds duration) {
  if (id >= first_) at(id).duration = duration;
}

std::optional<Nanoseconds> RecipeBook::maker_duration(const PagedBlock& block) const {
  return block.maker < first_ ? std::nullopt : step(block.maker).duration;
}

PagedBlock* RecipeBook::available(const StepInput& input, std::span<const Handle> trusted) const {
  PagedBlock* block = table_.find(input.block);
  if (!block || block->version != input.version || !block->has_bytes()) return nullptr;
  const bool stays =
      block->changing == 0 || std::find(trusted.begin(), trusted.end(), input.block) != trusted.end();
  return stays ? block : nullptr;
}

bool RecipeBook::find(const PagedBlock& target, std::span<const Handle> trusted, StepId oldest,
                      std::size_t most_steps) {
  ++search_;
  found_.steps.clear();
  found_.leaves.clear();
  found_.bytes_away = 0;
  found_.duration = 0;
  const auto require = [&](StepId maker) {
    if (maker < oldest) return false;
    if (std::exchange(at(maker).seen, search_) == search_) return true;
    found_.steps.push_back(maker);
    return found_.steps.size() <= most_steps;
  };
  if (!require(target.maker)) return false;
  for (std::size_t k = 0; k < found_.steps.size(); ++k) {
    const Step& next = step(found_.steps[k]);
    if (next.duration && found_.duration)
      *found_.duration += *next.duration;
    else
      found_.duration.reset();
    for (const StepInput& input : next.inputs) {
      const bool is_target = input.block == target.handle && input.version == target.version;
      if (PagedBlock* leaf = is_target ? nullptr : available(input, trusted)) {
        if (std::exchange(leaf->seen, search_) == search_) continue;
        found_.leaves.push_back(input.block);
        if (!leaf->resident()) found_.bytes_away += leaf->bytes;
      } else if (!require(input.maker)) {
        return false;
      }
    }
  }
  std::sort(found_.steps.begin(), found_.steps.end());
  return true;
}

std::optional<ReplayRecipe> RecipeBook::recipe_for(const PagedBlock& block, std::size_t longest) {
  if (!find(block, {}, usable_from_, longest)) return std::nullopt;
  found_.longest = longest;
  return found_;
}

const ReplayRecipe& RecipeBook::recipe_of(const PagedBlock& block) {
  const ReplayRecipe& entered = *recipes_.find(block.handle);
  if (entered.steps.size() == 1) return entered;  // there is no smaller part
  [[maybe_unused]] const bool is_there = find(block, entered.leaves, first_, entered.steps.size());
  assert(is_there && "a dropped block lost its recipe");
  return found_;
}

void RecipeBook::enter(Handle block, const ReplayRecipe& recipe) {
  for (const StepId id : recipe.steps) at(id).dependents.insert(block);
  for (const Handle leaf : recipe.leaves) table_.find(leaf)->dependents.insert(block);
}

void RecipeBook::leave_leaf(Handle block, PagedBlock& leaf) {
  leaf.dependents.erase(block);
  if (leaf.dependents.empty()) released_.push_back(leaf.handle);
}

void RecipeBook::leave(Handle block) {
  const ReplayRecipe* recipe = recipes_.find(block);
  if (!recipe) return;
  for (const StepId id : recipe->steps) at(id).dependents.erase(block);
  for (const Handle leaf : recipe->leaves) leave_leaf(block, *table_.find(leaf));
  recipes_.erase(block);
}

bool RecipeBook::rebase(Handle dropped) {
  ReplayRecipe& recipe = *recipes_.find(dropped);
  if (!find(*table_.find(dropped), {}, usable_from_, recipe.longest)) return false;
  for (const StepId id : recipe.steps)
    if (at(id).seen != search_) at(id).dependents.erase(dropped);
  for (const Handle handle : recipe.leaves)
    if (PagedBlock& leaf = *table_.find(handle); leaf.seen != search_) leave_leaf(dropped, leaf);
  enter(dropped, found_);
  found_.longest = recipe.longest;
  std::swap(recipe, found_);
  return true;
}

std::vector<Handle> RecipeBook::rebase_all(std::span<const Handle> dropped) {
  std::vector<Handle> stranded;
  rebased_.assign(dropped.begin(), dropped.end());
  for (const Handle block : rebased_)
    if (!rebase(block)) stranded.push_back(block);
  return stranded;
}

std::vector<Handle> RecipeBook::detach(PagedBlock& block) {
  if (block.dependents.empty()) return {};
  const BlockHold changing(block, &PagedBlock::changing);
  return rebase_all(block.dependents.values());
}

bool RecipeBook::drop(PagedBlock& block, ReplayRecipe recipe) {
  if (!detach(block).empty()) return false;
  enter(block.handle, recipe);
  recipes_.set(block.handle, std::move(recipe));
  return true;
}

std::vector<Handle> RecipeBook::dropped_blocks() {
  std::vector<Handle> blocks;
  recipes_.for_each([&](Handle block, const ReplayRecipe&) { blocks.push_back(block); });
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

void RecipeBook::forget(Handle block) { leave(block); }

std::vector<Handle> RecipeBook::expiring() {
  usable_from_ = first_ + 1;
  return rebase_all(at(first_).dependents.values());
}

void RecipeBook::expire_oldest() {
  std::unique_ptr<Step> oldest = std::move(remembered(first_).step);
  assert(oldest->dependents.empty() && "a step expires that a dropped block needs");
  ++first_;
  usable_from_ = std::max(usable_from_, first_);
  if (first_ < next_) oldest_at_ = remembered(first_).at;
  if (blanks_.size() == kMostBlanks) return;
  oldest->function = nullptr;  // what it captured goes now
  blanks_.push_back(std::move(oldest));
}

}  // namespace ebb
