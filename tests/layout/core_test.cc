#include "layout/core.h"

#include <gtest/gtest.h>

#include "layout/random_problems.h"
#include "layout/validate.h"

namespace ebb::layout {
namespace {

// A hill of nested buffers, as forward and backward passes make it, with short ones beside each.
Problem hill(int layers) {
  Problem problem;
  const Time end = 4 * layers;
  for (int k = 0; k < layers; ++k) {
    problem.buffers.push_back({.id = 3 * k, .begin = 2 * k, .end = end - 2 * k, .size = 8});
    problem.buffers.push_back({.id = 3 * k + 1, .begin = 2 * k, .end = 2 * k + 2, .size = 3 + k % 3});
    problem.buffers.push_back({.id = 3 * k + 2, .begin = end - 2 * k - 1, .end = end - 2 * k + 1, .size = 5});
  }
  return problem;
}

void expect_valid(const Problem& problem, const PartLayout& part) {
  Layout layout{.fits = true, .offsets = part.offsets, .footprint = part.height};
  for (const Violation& violation : validate(problem, layout, {.alignment = 1}))
    ADD_FAILURE() << violation.message;
}

TEST(Core, PacksAHillToItsLoad) {
  const Problem problem = hill(30);
  const Units load = peak_load(problem, 1);
  SearchBudget budget{.steps = 100'000};
  const PartLayout layout =
      pack_around_cores(load, cut_into_sections(problem, 1, 1), {.height = 10'000}, 1, budget);
  EXPECT_EQ(layout.height, load);
  expect_valid(problem, layout);
}

// Large buffers lie all over the hill, so that no one core does for every instance.
TEST(Core, TriesCoresUntilOneDoes) {
  std::mt19937_64 random(32);
  std::uniform_int_distribution<Bytes> any(1, 24);
  for (int n = 0; n < 20; ++n) {
    Problem problem = hill(60);
    for (Buffer& buffer : problem.buffers) buffer.size = any(random);
    for (int k = 0; k < 80; ++k) {
      const Time begin = 37 * k % 220;
      problem.buffers.push_back(
          {.id = 1000 + k, .begin = begin, .end = begin + 20, .size = 16 * any(random)});
    }
    const Units load = peak_load(problem, 1);
    SearchBudget budget{.steps = 300'000};
    const PartLayout layout =
        pack_around_cores(load, cut_into_sections(problem, 1, 1), {.height = 100'000}, 1, budget);
    EXPECT_EQ(layout.height, load) << "instance " << n;
    expect_valid(problem, layout);
  }
}

// Three buffers of 2 in a ring of three, each meeting the two others only in part: load 4, but 6 are needed.
TEST(Core, ACoreThatDoesNotFitIsAProof) {
  const Problem ring{.buffers = {{.id = 0, .begin = 0, .end = 2, .size = 2},
                                 {.id = 1, .begin = 1, .end = 3, .size = 2},
                                 {.id = 2, .begin = 2, .end = 4, .size = 2}},
                     .period = 3};
  SearchBudget budget{.steps = 1'000};
  const PartLayout layout = pack_around_cores(4, cut_into_sections(ring, 1, 1), {.height = 100}, 1, budget);
  EXPECT_EQ(layout.lower_bound, 5);
  EXPECT_GT(budget.steps, 500);
}

TEST(Core, LayoutsAreValidForAnyShare) {
  std::mt19937_64 random(31);
  for (int n = 0; n < soak(100); ++n) {
    const Problem problem = random_problem(random, {.buffers = 60, .horizon = 50, .cyclic = n % 2 == 0});
    const Instance instance = cut_into_sections(problem, 1, 1);
    for (const double share : {1.0, 0.9, 0.5}) {
      SearchBudget budget{.steps = 500};
      const PartLayout layout =
          pack_around_core(share, peak_load(problem, 1) + 8, instance, {.height = 10'000}, 1, budget);
      if (!layout.offsets.empty()) expect_valid(problem, layout);
    }
  }
}

TEST(Core, KeepsTheStartIfItIsLower) {
  const Problem problem = hill(5);
  SearchBudget budget{.steps = 100'000};
  const PartLayout layout =
      pack_around_core(0.9, 1'000, cut_into_sections(problem, 1, 1), {.height = 3}, 1, budget);
  EXPECT_EQ(layout.height, 3);
  EXPECT_TRUE(layout.offsets.empty());
}

}  // namespace
}  // namespace ebb::layout
