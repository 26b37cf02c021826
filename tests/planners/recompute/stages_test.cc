#include "planners/recompute/stages.h"

#include <gtest/gtest.h>

#include "chain_programs.h"

namespace ebb {
namespace {

struct Prepared {
  explicit Prepared(Program p) : program(std::move(p)) {}
  Program program;
  Gaps gaps{program};
  Mirror mirror{program, gaps};
  ForwardPlaces places{program, gaps, mirror};
};

TEST(ForwardPlaces, AChainCanBeCutAfterEveryOpButTheLast) {
  const Prepared chain(chain_program(5));
  EXPECT_EQ(chain.places.candidates(1), (std::vector<OpIndex>{0, 1, 2, 3}));
  EXPECT_EQ(chain.places.widths(), std::vector<int>{1});
}

// Result 0 is read by op 1 and, past op 1's result, by op 2.
TEST(ForwardPlaces, ASkipMakesItsPlacesWider) {
  std::vector<Op> ops = {op({writes(0)}), op({reads(0), writes(1)}), op({reads(0), reads(1), writes(2)}),
                         op({reads(2), writes(3)}), op({reads(3), reads(0), reads(1), reads(2)})};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].phase = i < 4 ? Phase::forward : Phase::backward;
  const Prepared skip(literal_program(
      std::move(ops), {local(100, 0, 4), local(100, 1, 4), local(100, 2, 4), local(100, 3, 4)}));
  EXPECT_EQ(skip.places.candidates(1), (std::vector<OpIndex>{0, 2}));
  EXPECT_EQ(skip.places.candidates(2), (std::vector<OpIndex>{0, 1, 2}));
  EXPECT_EQ(skip.places.makers_across(1), (std::vector<OpIndex>{0, 1}));
}

TEST(ForwardPlaces, NothingIsCutBetweenAResultAndItsChangeInPlace) {
  std::vector<Op> ops = {op({writes(0)}), op({updates(0)}), op({reads(0), writes(1)}),
                         op({reads(1), reads(0)})};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].phase = i < 3 ? Phase::forward : Phase::backward;
  const Prepared changed(literal_program(std::move(ops), {local(100, 0, 3), local(100, 2, 3)}));
  EXPECT_EQ(changed.places.candidates(1), std::vector<OpIndex>{1});
}

// Results 0 … 7 of 100 bytes each over the turn (result 8 is read at once): with budget 150 a stage ends at
// every second place, with 0 at every one.
TEST(Stages, EndAtTheFirstPlaceAboveTheBudget) {
  const Prepared chain(chain_program(9));
  const std::vector<OpIndex> places = chain.places.candidates(1);
  const Stages pairs = chain.places.split(places, 150);
  EXPECT_EQ(pairs.cuts, (std::vector<OpIndex>{1, 3, 5, 7}));
  EXPECT_EQ(pairs.stored, 400);
  EXPECT_EQ(pairs.largest, 200);
  const Stages finest = chain.places.split(places, 0);
  EXPECT_EQ(finest.stored, 800);
  EXPECT_EQ(finest.largest, 100);
  EXPECT_EQ(counts_of(chain.places, pairs.cuts), (MirrorCounts{1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

}  // namespace
}  // namespace ebb
