#include "planners/chain/segment_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "random_programs.h"

namespace ebb {
namespace {

SegmentChain random_chain(Random& random, std::size_t stages) {
  SegmentChain chain;
  const Slots largest = random.between<Slots>(1, 6);
  auto some = [&] { return random.between<Slots>(0, largest); };
  for (std::size_t s = 0; s < stages; ++s) {
    SegmentStage stage{.rerun = random.between<Nanoseconds>(0, 20),
                       .pass_first = some(),
                       .pass_again = some(),
                       .backward = some(),
                       .beside = random.chance(50) ? 0 : some(),
                       .dead_input = random.chance(70) ? 0 : some(),
                       .options = {{.held = some()}}};
    stage.rerun_as_last = random.between<Nanoseconds>(0, stage.rerun);
    stage.store_first = stage.pass_first + some();
    stage.store_again = stage.pass_again + some();
    const Slots all = stage.options.front().held;
    if (random.chance(60))
      stage.options.push_back({.held = random.between<Slots>(0, all), .rerun = random.between(1, 9)});
    if (random.chance(60)) stage.options.push_back({.held = 0, .copies = random.between(1, 30)});
    chain.stages.push_back(stage);
    std::vector<Crossing>& row = chain.crossings.emplace_back();
    for (std::size_t c = s; c < stages; ++c) {
      const Slots held = c == s ? 0 : some();
      row.push_back({.held = held, .passing = held + (c == s ? 0 : some()), .copies = random.between(0, 30)});
    }
  }
  return chain;
}

// What is done with a segment, spelled out.
struct Tree {
  std::size_t option = 0;  // the first stage is stored so, unless there is a cut
  std::size_t cut = 0;     // 0: none
  bool moved = false;
  std::shared_ptr<const Tree> rest = {};   // of the segment behind the stage or from the cut on
  std::shared_ptr<const Tree> again = {};  // of the segment in front of the cut
};
using Trees = std::vector<std::shared_ptr<const Tree>>;

Trees all_trees(const SegmentChain& chain, std::size_t s, std::size_t t) {
  Trees trees;
  for (std::size_t option = 0; option < chain.stages[s].options.size(); ++option)
    for (const auto& rest : s < t ? all_trees(chain, s + 1, t) : Trees{nullptr})
      trees.push_back(std::make_shared<Tree>(Tree{.option = option, .rest = rest}));
  for (std::size_t cut = s + 1; cut <= t; ++cut)
    for (const auto& rest : all_trees(chain, cut, t))
      for (const auto& again : all_trees(chain, s, cut - 1))
        for (const bool moved : {false, true})
          trees.push_back(
              std::make_shared<Tree>(Tree{.cut = cut, .moved = moved, .rest = rest, .again = again}));
  return trees;
}

// Goes through forward and backward one stage at a time and counts what is there.
class Walk {
 public:
  Walk(const SegmentChain& chain, std::optional<double> price, bool may_rerun)
      : chain_(chain), price_(price), may_rerun_(may_rerun) {}

  Slots most = 0;
  Nanoseconds cost = 0;
  bool allowed = true;

  void run(const Tree& tree, std::size_t s, std::size_t t) {
    const bool first_pass = t + 1 == chain_.size();
    const SegmentStage& stage = chain_.stages[s];
    const Slots beside = first_pass ? 0 : chain_.stages[t].beside;
    if (tree.cut == 0) {
      const StoreOption& option = stage.options[tree.option];
      need(beside + stage.dead_input + (first_pass ? stage.store_first : stage.store_again));
      rerun(option.rerun);
      copy(option.copies, first_pass);
      if (s < t) {
        held_ += option.held;
        run(*tree.rest, s + 1, t);
        held_ -= option.held;
      }
      need(stage.backward);
      return;
    }
    for (std::size_t k = s; k < tree.cut; ++k) {
      const SegmentStage& passed = chain_.stages[k];
      need(beside + stage.dead_input + chain_.crossing(s, k).passing +
           (first_pass ? passed.pass_first : passed.pass_again));
    }
    const Crossing& crossing = chain_.crossing(s, tree.cut);
    if (tree.moved && crossing.copies == 0) allowed = false;
    if (tree.moved) copy(crossing.copies, first_pass);
    const Slots kept = stage.dead_input + (tree.moved ? 0 : crossing.held);
    held_ += kept;
    run(*tree.rest, tree.cut, t);
    held_ -= kept;
    for (std::size_t k = s; k + 1 < tree.cut; ++k) rerun(chain_.stages[k].rerun);
    rerun(chain_.stages[tree.cut - 1].rerun_as_last);
    allowed = allowed && may_rerun_;
    run(*tree.again, s, tree.cut - 1);
  }

 private:
  void need(Slots slots) { most = std::max(most, held_ + slots); }
  void rerun(Nanoseconds time) {
    cost += time;
    if (time > 0 && !may_rerun_) allowed = false;
  }
  void copy(Nanoseconds copies, bool first_pass) {
    if (copies == 0) return;
    if (!price_ || !first_pass)
      allowed = false;
    else
      cost += static_cast<Nanoseconds>(*price_ * static_cast<double>(copies));
  }

  const SegmentChain& chain_;
  const std::optional<double> price_;
  const bool may_rerun_;
  Slots held_ = 0;
};

// The tree that a policy stands for.
std::shared_ptr<const Tree> tree_of(const SegmentPolicy& policy, std::size_t s, std::size_t t, int level) {
  Tree tree;
  if (policy.stages[s].level == level) {
    tree.option = policy.stages[s].option;
    if (s < t) tree.rest = tree_of(policy, s + 1, t, level);
    return std::make_shared<Tree>(tree);
  }
  tree.cut = s + 1;
  while (policy.cuts.at(tree.cut).level != level) ++tree.cut;
  tree.moved = policy.cuts[tree.cut].moved;
  tree.rest = tree_of(policy, tree.cut, t, level);
  tree.again = tree_of(policy, s, tree.cut - 1, level + 1);
  return std::make_shared<Tree>(tree);
}

constexpr Slots kMemory = 24;
constexpr Nanoseconds kNone = std::numeric_limits<Nanoseconds>::max();

// By memory: the least cost of all policies.
std::vector<Nanoseconds> by_trying_all(const SegmentChain& chain, std::optional<double> price,
                                       bool may_rerun) {
  std::vector<Nanoseconds> least(kMemory + 1, kNone);
  for (const auto& tree : all_trees(chain, 0, chain.size() - 1)) {
    Walk walk(chain, price, may_rerun);
    walk.run(*tree, 0, chain.size() - 1);
    if (!walk.allowed) continue;
    for (Slots m = walk.most; m <= kMemory; ++m)
      least[static_cast<std::size_t>(m)] = std::min(least[static_cast<std::size_t>(m)], walk.cost);
  }
  return least;
}

TEST(SegmentProgram, CostsWhatTheBestOfAllPoliciesCosts) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const SegmentChain chain = random_chain(random, random.between<std::size_t>(1, 4));
    const bool may_rerun = !random.chance(15);
    const std::optional<double> price =
        random.chance(40) ? std::nullopt : std::optional(0.1 * random.between(0, 12));
    SegmentProgram program(chain, kMemory, may_rerun);
    program.set_link_price(price);
    const std::vector<Nanoseconds> least = by_trying_all(chain, price, may_rerun);
    for (Slots m = 0; m <= kMemory; ++m) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " memory " << m);
      const auto policy = program.best_policy(m);
      ASSERT_EQ(policy ? policy->cost : kNone, least[static_cast<std::size_t>(m)]);
      if (!policy) continue;
      Walk walk(chain, price, may_rerun);
      walk.run(*tree_of(*policy, 0, chain.size() - 1, 0), 0, chain.size() - 1);
      EXPECT_TRUE(walk.allowed);
      EXPECT_EQ(walk.cost, policy->cost);
      EXPECT_LE(walk.most, m);
    }
  }
}

TEST(SegmentProgram, AnotherPriceForgetsTheOneBefore) {
  Random random(3);
  const SegmentChain chain = random_chain(random, 4);
  SegmentProgram program(chain, kMemory, true);
  program.set_link_price(std::nullopt);
  const auto without = program.best_policy(kMemory / 2);
  program.set_link_price(0.0);
  program.set_link_price(std::nullopt);
  EXPECT_EQ(program.best_policy(kMemory / 2), without);
}

// Six equal stages of one slot each: one checkpoint for two stages saves a slot, for three it saves two.
TEST(SegmentProgram, RunsNoMoreStagesAgainThanItMust) {
  SegmentChain chain;
  for (std::size_t s = 0; s < 6; ++s) {
    chain.stages.push_back({.rerun = 10,
                            .rerun_as_last = 10,
                            .pass_first = 1,
                            .pass_again = 1,
                            .store_first = 1,
                            .store_again = 1,
                            .backward = 1,
                            .options = {{.held = 1}}});
    chain.crossings.emplace_back(6 - s, Crossing{.held = 1, .passing = 1});
    chain.crossings.back().front() = {};
  }
  SegmentProgram program(chain, 6, true);
  program.set_link_price(std::nullopt);
  EXPECT_EQ(program.best_policy(6)->cost, 0);
  EXPECT_EQ(program.best_policy(5)->cost, 20);
  EXPECT_EQ(program.best_policy(4)->cost, 30);
  EXPECT_FALSE(program.best_policy(0));
}

}  // namespace
}  // namespace ebb
