#include "layout/valley_search.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include "layout/ground.h"
#include "layout/random_problems.h"

namespace ebb::layout {
namespace {

bool is_valid(const Instance& instance, const std::vector<Units>& offsets) {
  for (int s = 0; s < instance.sections; ++s) {
    std::vector<std::pair<Units, Units>> ranges{{0, instance.base[s]}};
    for (std::size_t i = 0; i < instance.items.size(); ++i) {
      const Item& item = instance.items[i];
      const int position = (s - item.first + instance.sections) % instance.sections;
      if (position < item.count) ranges.emplace_back(offsets[i], offsets[i] + item.size);
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t k = 1; k < ranges.size(); ++k) {
      if (ranges[k].first < ranges[k - 1].second) return false;
    }
  }
  return true;
}

// Agreement with trying everything: it fits at the optimum, and not one unit below.
void expect_exact(const Problem& problem, std::uint64_t seed) {
  const Instance instance = cut_into_sections(problem, 1, 1);
  const Bytes optimum = exhaustive_footprint(problem);
  SearchBudget budget{.steps = 1'000'000};
  const SearchResult found = search_valleys(instance, optimum, seed, budget);
  ASSERT_EQ(found.end, SearchEnd::kFits);
  EXPECT_TRUE(is_valid(instance, found.offsets));
  EXPECT_LE(height_of(instance, found.offsets), optimum);
  EXPECT_EQ(search_valleys(instance, optimum - 1, seed, budget).end, SearchEnd::kDoesNotFit);
}

TEST(ValleySearch, AgreesWithExhaustiveSearch) {
  std::mt19937_64 random(11);
  for (int n = 0; n < soak(400); ++n) {
    const RandomShape shape{.buffers = 3 + n % 4, .horizon = 4 + n % 7, .largest = 1 + n % 9};
    expect_exact(random_problem(random, shape), n);
    if (HasFatalFailure()) FAIL() << "instance " << n;
  }
}

TEST(ValleySearch, AgreesWithExhaustiveSearchOnARing) {
  std::mt19937_64 random(12);
  for (int n = 0; n < soak(400); ++n) {
    const RandomShape shape{.buffers = 3 + n % 4, .horizon = 4 + n % 7, .largest = 1 + n % 9, .cyclic = true};
    expect_exact(random_problem(random, shape), n);
    if (HasFatalFailure()) FAIL() << "instance " << n;
  }
}

TEST(ValleySearch, FindsALayoutThatNeedsAHoleBelow) {
  // The load is 4, but at 4 nothing fits; the optimum is 5.
  const Problem problem{.buffers = {{.id = 0, .begin = 0, .end = 2, .size = 2},
                                    {.id = 1, .begin = 0, .end = 1, .size = 2},
                                    {.id = 2, .begin = 1, .end = 4, .size = 1},
                                    {.id = 3, .begin = 2, .end = 3, .size = 3},
                                    {.id = 4, .begin = 3, .end = 5, .size = 2}}};
  expect_exact(problem, 0);
}

TEST(ValleySearch, EndsWhenTheBudgetIsSpent) {
  std::mt19937_64 random(13);
  const Instance instance = cut_into_sections(random_problem(random, {.buffers = 60}), 1, 1);
  SearchBudget budget{.steps = 10};
  EXPECT_EQ(search_valleys(instance, height_of(instance, std::vector<Units>(60, 1'000)), 0, budget).end,
            SearchEnd::kOutOfBudget);
  EXPECT_TRUE(budget.is_spent());
}

TEST(ValleySearch, IsTheSameForTheSameSeed) {
  std::mt19937_64 random(14);
  const Problem problem = random_problem(random, {.buffers = 40, .horizon = 30});
  const Instance instance = cut_into_sections(problem, 1, 1);
  SearchBudget a{.steps = 100'000}, b{.steps = 100'000};
  const Units ceiling = peak_load(problem, 1) + 3;
  EXPECT_EQ(search_valleys(instance, ceiling, 5, a).offsets, search_valleys(instance, ceiling, 5, b).offsets);
  EXPECT_EQ(a.steps, b.steps);
}

// A search as deep as the buffers are many, in a thread whose stack would not hold it.
TEST(ValleySearch, NeedsNoDeepStack) {
  Problem problem;
  for (int i = 0; i < 4'000; ++i) {
    problem.buffers.push_back({.id = i, .begin = i, .end = i + 12, .size = 1 + i % 5});
  }
  struct Search {
    Instance instance;
    Units ceiling = 0;
    SearchResult result = {};
  } search{.instance = cut_into_sections(problem, 1, 1), .ceiling = peak_load(problem, 1) + 8};
  pthread_attr_t small;
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, 128 * 1024), 0);
  pthread_t thread;
  const auto run = [](void* pointer) -> void* {
    Search& search = *static_cast<Search*>(pointer);
    SearchBudget budget{.steps = 1'000'000};
    search.result = search_valleys(search.instance, search.ceiling, 0, budget);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &small, run, &search), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&small);
  ASSERT_EQ(search.result.end, SearchEnd::kFits);
  EXPECT_LE(height_of(search.instance, search.result.offsets), search.ceiling);
}

}  // namespace
}  // namespace ebb::layout
