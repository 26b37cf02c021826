#include "planners/dqn/weights.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace ebb::dqn {
namespace {

TEST(DqnWeights, AreTheSameAfterATripThroughText) {
  const Weights weights = Weights::random(7, 42);
  EXPECT_EQ(parse_weights(to_text(weights)), weights);
}

TEST(DqnWeights, DependOnTheSeedAlone) {
  EXPECT_EQ(Weights::random(5, 1), Weights::random(5, 1));
  EXPECT_FALSE(Weights::random(5, 1) == Weights::random(5, 2));
}

TEST(DqnWeights, TextThatIsSomethingElseIsRefused) {
  EXPECT_THROW(parse_weights("{"), InputError);
  EXPECT_THROW(parse_weights("{}"), InputError);
  EXPECT_THROW(parse_weights(R"({"format":"ebb dqn weights 1","width":0,"matrices":[]})"), InputError);
  EXPECT_THROW(parse_weights(R"({"format":"ebb dqn weights 1","width":2,"matrices":[[1,2]]})"), InputError);
  std::string text = to_text(Weights::random(2, 1));
  text.replace(text.find('[', text.find("matrices")) + 2, 1, "\"x\",");
  EXPECT_THROW(parse_weights(text), InputError);
}

}  // namespace
}  // namespace ebb::dqn
