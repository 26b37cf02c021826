#include "plan/sharing.h"

#include <gtest/gtest.h>

#include "literal_programs.h"

namespace ebb {
namespace {

Op named(std::string name, std::vector<Access> accesses) {
  Op result = op(std::move(accesses));
  result.name = std::move(name);
  return result;
}

// conv → relu → conv → relu, nothing read again: in place each relu takes over its conv's memory, and the
// second conv may use … nothing, as its input is still there; the third does.
TEST(Sharing, ElementwiseOpsTakeOverAnInputNobodyElseWaitsFor) {
  const Program program = literal_program(
      {named("conv", {writes(0)}), named("relu", {reads(0), writes(1)}), named("conv", {reads(1), writes(2)}),
       named("relu", {reads(2), writes(3)}), named("conv", {reads(3), writes(4)})},
      {local(10, 0, 1), local(10, 1, 2), local(10, 2, 3), local(10, 3, 4), local(10, 4, 4)});
  EXPECT_EQ(analyse_sharing(program), (SharingSummary{50, 30, 20}));
}

TEST(Sharing, AnInputThatIsReadLaterIsNotOverwritten) {
  const Program program = literal_program(
      {named("conv", {writes(0)}), named("relu", {reads(0), writes(1)}), named("conv", {reads(0), reads(1)})},
      {local(10, 0, 2), local(10, 1, 2)});
  EXPECT_EQ(analyse_sharing(program), (SharingSummary{20, 20, 20}));
}

// Three steps add to one gradient that stays for the update of the next iteration.
TEST(Sharing, AddingToAGradientThatStaysCostsMemoryOnlyWithoutOptimisation) {
  const Program program = literal_program(
      {op({writes(0)}), op({updates(0)}), op({updates(0)}), op({reads(0)})}, {persistent(10)});
  EXPECT_EQ(analyse_sharing(program), (SharingSummary{20, 0, 0}));
}

TEST(Sharing, RecycledMemoryGrowsIfItIsAlmostEnough) {
  const Program program =
      literal_program({named("conv", {writes(0)}), named("conv", {writes(1)}), named("conv", {writes(2)})},
                      {local(10, 0, 0), local(12, 1, 1), local(1000, 2, 2)});
  EXPECT_EQ(analyse_sharing(program), (SharingSummary{1022, 1022, 12 + 1000}));
}

TEST(Sharing, NamesAreReadWordByWord) {
  EXPECT_TRUE(is_elementwise("aten::relu_"));
  EXPECT_TRUE(is_elementwise("aten::add.Tensor"));
  EXPECT_TRUE(is_elementwise("sigmoid_backward"));
  EXPECT_FALSE(is_elementwise("aten::addmm"));
  EXPECT_FALSE(is_elementwise("padding"));
  EXPECT_FALSE(is_elementwise("batch_norm"));
}

}  // namespace
}  // namespace ebb
