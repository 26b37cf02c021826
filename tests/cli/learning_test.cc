// The options of planners that learn. Without libtorch there is none, and the tool says so.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/run_ebb.h"

namespace ebb::cli {
namespace {

bool learns() {
  const nlohmann::json planners = run_ebb({"planners", "--json"}).json();
  return std::any_of(planners.begin(), planners.end(),
                     [](const nlohmann::json& one) { return one["name"] == "dqn"; });
}

TEST(Learning, PlannersSaysWhetherItIsBuilt) {
  const Outcome outcome = run_ebb({"planners"});
  EXPECT_EQ(outcome.out.find("Not built: dqn") == std::string::npos, learns());
}

TEST(Learning, WeightsAreWrittenAndRead) {
  if (!learns()) GTEST_SKIP() << "no libtorch";
  const TemporaryFolder folder;
  const std::string weights = folder.path("weights.json");
  const std::vector<std::string> plan = {"plan", bundled("unet"), "--limit", "80%",       "--planner",
                                         "dqn",  "--evaluations", "2",       "--no-bound"};
  std::vector<std::string> first = plan, second = plan;
  first.insert(first.end(), {"--save-weights", weights});
  second.insert(second.end(), {"--weights", weights});
  const Outcome saved = run_ebb(first);
  ASSERT_EQ(saved.code, 0) << saved.err;
  EXPECT_NE(saved.out.find("mean overhead"), std::string::npos) << "the learning curve is printed";
  EXPECT_EQ(run_ebb(second).code, 0);
}

TEST(Learning, AFileThatHoldsNoWeightsIsRefused) {
  if (!learns()) GTEST_SKIP() << "no libtorch";
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb({"plan", bundled("unet"), "--limit", "80%", "--planner", "dqn", "--weights",
                                   folder.file("weights.json", "{}")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
}

TEST(Learning, APlannerThatDoesNotLearnHasNoWeightsToSave) {
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb({"plan", bundled("unet"), "--limit", "80%", "--planner", "superneurons",
                                   "--no-bound", "--save-weights", folder.path("weights.json")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
}

}  // namespace
}  // namespace ebb::cli
