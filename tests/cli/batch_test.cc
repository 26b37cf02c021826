#include <gtest/gtest.h>

#include "cli/run_ebb.h"

namespace ebb::cli {
namespace {

// A step trace: a map of 20 MiB per sample that backward reads, a loss of 10 MiB per sample.
std::string recording(int batch, bool says_batch = true) {
  const long mib = 1 << 20;
  const auto op = [](const std::string& phase, const std::string& name, const std::string& rest) {
    return R"({"n":")" + name + R"(","p":")" + phase + R"(","us":1000,)" + rest + "}";
  };
  const auto bytes = [&](int per_sample) { return std::to_string(per_sample * batch * mib); };
  return R"({"meta":{"model":"m")" + (says_batch ? ",\"batch\":" + std::to_string(batch) : std::string()) +
         R"(},"ops":[)" + op("F", "relu", "\"x\":" + bytes(20) + R"(,"r":[],"w":[0])") + "," +
         op("F", "loss", "\"x\":" + bytes(10) + R"(,"r":[],"w":[1])") + "," +
         op("B", "relu_backward", R"("x":0,"r":[0],"w":[])") + R"(],"blocks":[{"b":)" + bytes(20) +
         R"(,"a":0,"f":2},{"b":)" + bytes(10) + R"(,"a":1,"f":1}]})";
}

TEST(Batch, FindsTheLargestThatFits) {
  const TemporaryFolder folder;
  const std::string one = folder.file("one.json", recording(2));
  const std::string other = folder.file("other.json", recording(4));
  const Outcome outcome = run_ebb({"batch", one, other, "--limit", "400MiB", "--planner", "home", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["plain"]["batch"], 13);    // 30 MiB a sample
  EXPECT_EQ(outcome.json()["largest"]["batch"], 20);  // 20 MiB a sample
  EXPECT_EQ(outcome.json()["recorded_batches"], (nlohmann::json{2, 4}));
  const double step = outcome.json()["largest"]["step_ns"];
  EXPECT_DOUBLE_EQ(outcome.json()["largest"]["samples_per_second"], 20 * 1e9 / step);
  const Outcome text = run_ebb({"batch", one, other, "--limit", "400MiB"});
  EXPECT_NE(text.out.find("20 samples"), std::string::npos) << text.out;
}

TEST(Batch, AsksForBatchSizesThatTheTracesDoNotSay) {
  const TemporaryFolder folder;
  const std::string one = folder.file("one.json", recording(2, false));
  const std::string other = folder.file("other.json", recording(4, false));
  const Outcome outcome = run_ebb({"batch", one, other, "--limit", "400MiB"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("--batches"), std::string::npos) << outcome.err;
  EXPECT_EQ(run_ebb({"batch", one, other, "--limit", "400MiB", "--batches", "2,4", "--json"})
                .json()["largest"]["batch"],
            20);
}

TEST(Batch, AnswersThatNotEvenOneSampleFits) {
  const TemporaryFolder folder;
  const std::string one = folder.file("one.json", recording(2));
  const std::string other = folder.file("other.json", recording(4));
  const Outcome outcome = run_ebb({"batch", one, other, "--limit", "19MiB"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
}

}  // namespace
}  // namespace ebb::cli
