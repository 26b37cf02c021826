#include "runtime/recipe.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace ebb {

StepId RecipeBook::record(Step step) {
  steps_.push_back(std::move(step));
  return first_ + static_cast<StepId>(steps_.size()) - 1;
}

void RecipeBook::set_duration(StepId id, Nanoseconds duration) {
  if (id >= first_) steps_[static_cast<std::size_t>(id - first_)].duration = duration;
}

std::optional<Nanoseconds> RecipeBook::maker_duration(const PagedBlock& block) const {
  return block.maker < first_ ? std::nullopt : step(block.maker).duration;
}

bool RecipeBook::available(const StepInput& input, std::span<const Handle> trusted) const {
  const PagedBlock* block = table_.find(input.block);
  if (!block || block->version != input.version || !block->has_bytes()) return false;
  return block->changing == 0 || std::find(trusted.begin(), trusted.end(), input.block) != trusted.end();
}

std::optional<ReplayRecipe> RecipeBook::find(const PagedBlock& target, std::span<const Handle> trusted,
                                             StepId oldest, std::size_t most_steps) const {
  ReplayRecipe recipe;
  std::unordered_set<StepId> chosen;
  std::unordered_set<Handle> leaves;
  std::vector<StepId> open;
  const auto require = [&](StepId maker) {
    if (maker < oldest) return false;
    if (!chosen.insert(maker).second) return true;
    open.push_back(maker);
    return chosen.size() <= most_steps;
  };
  if (!require(target.maker)) return std::nullopt;
  Nanoseconds duration = 0;
  bool measured = true;
  while (!open.empty()) {
    const Step& next = step(open.back());
    open.pop_back();
    measured = measured && next.duration;
    duration += next.duration.value_or(0);
    for (const StepInput& input : next.inputs) {
      const bool is_target = input.block == target.handle && input.version == target.version;
      if (!is_target && available(input, trusted)) {
        if (!leaves.insert(input.block).second) continue;
        recipe.leaves.push_back(input.block);
        const PagedBlock& leaf = *table_.find(input.block);
        if (!leaf.resident()) recipe.bytes_away += leaf.bytes;
      } else if (!require(input.maker)) {
        return std::nullopt;
      }
    }
  }
  if (measured) recipe.duration = duration;
  recipe.steps.assign(chosen.begin(), chosen.end());
  std::sort(recipe.steps.begin(), recipe.steps.end());
  return recipe;
}

std::optional<ReplayRecipe> RecipeBook::recipe_for(const PagedBlock& block, std::size_t longest) const {
  std::optional<ReplayRecipe> recipe = find(block, {}, usable_from_, longest);
  if (recipe) recipe->longest = longest;
  return recipe;
}

ReplayRecipe RecipeBook::recipe_of(const PagedBlock& block) const {
  const ReplayRecipe& entered = recipes_.at(block.handle);
  std::optional<ReplayRecipe> recipe = find(block, entered.leaves, first_, entered.steps.size());
  assert(recipe && "a dropped block lost its recipe");
  return std::move(*recipe);
}

void RecipeBook::enter(Handle block, ReplayRecipe recipe) {
  for (const StepId id : recipe.steps) steps_[static_cast<std::size_t>(id - first_)].dependents.insert(block);
  for (const Handle leaf : recipe.leaves) dependents_[leaf].insert(block);
  recipes_.emplace(block, std::move(recipe));
}

void RecipeBook::leave(Handle block) {
  const auto it = recipes_.find(block);
  if (it == recipes_.end()) return;
  for (const StepId id : it->second.steps)
    steps_[static_cast<std::size_t>(id - first_)].dependents.erase(block);
  for (const Handle leaf : it->second.leaves) {
    const auto dependents = dependents_.find(leaf);
    dependents->second.erase(block);
    if (!dependents->second.empty()) continue;
    dependents_.erase(dependents);
    released_.push_back(leaf);
  }
  recipes_.erase(it);
}

bool RecipeBook::rebase(Handle dropped) {
  std::optional<ReplayRecipe> recipe = recipe_for(*table_.find(dropped), recipes_.at(dropped).longest);
  if (!recipe) return false;
  leave(dropped);
  enter(dropped, std::move(*recipe));
  return true;
}

std::vector<Handle> RecipeBook::detach(PagedBlock& block) {
  const auto it = dependents_.find(block.handle);
  if (it == dependents_.end()) return {};
  const BlockHold changing(block, &PagedBlock::changing);
  std::vector<Handle> stranded;
  const std::vector<Handle> dependents(it->second.begin(), it->second.end());
  for (const Handle dependent : dependents)
    if (!rebase(dependent)) stranded.push_back(dependent);
  return stranded;
}

bool RecipeBook::drop(PagedBlock& block, ReplayRecipe recipe) {
  if (!detach(block).empty()) return false;
  enter(block.handle, std::move(recipe));
  return true;
}

std::vector<Handle> RecipeBook::dropped_blocks() const {
  std::vector<Handle> blocks;
  for (const auto& [block, recipe] : recipes_) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

void RecipeBook::forget(Handle block) { leave(block); }

std::vector<Handle> RecipeBook::expiring() {
  usable_from_ = first_ + 1;
  std::vector<Handle> stranded;
  const std::set<Handle> dependents = steps_.front().dependents;
  for (const Handle dependent : dependents)
    if (!rebase(dependent)) stranded.push_back(dependent);
  return stranded;
}

void RecipeBook::expire_oldest() {
  assert(steps_.front().dependents.empty() && "a step expires that a dropped block needs");
  steps_.pop_front();
  ++first_;
  usable_from_ = std::max(usable_from_, first_);
}

}  // namespace ebb
