// Running programs: what is handed over, and what comes back. The programs here need no torch; those that do
// are tests of tests/torch.
#include <gtest/gtest.h>

#include "cli/run_ebb.h"

namespace ebb::cli {
namespace {

TEST(Launch, TheExitCodeOfTheProgramIsPassedOn) {
  EXPECT_EQ(run_ebb({"run", "--limit", "1GiB", "--", "sh", "-c", "exit 41"}).code, 41);
  EXPECT_EQ(run_ebb({"record", "--", "true"}).code, 0);
}

TEST(Launch, ArgumentsAfterTheDashesGoToTheProgram) {
  const Outcome outcome = run_ebb({"run", "-l", "1GiB", "--", "echo", "--limit", "2", "--", "-l", "x"});
  EXPECT_EQ(outcome.out, "--limit 2 -- -l x\n") << outcome.err;
}

TEST(Launch, HandsOptionsOverInTheEnvironment) {
  const Outcome outcome = run_ebb(
      {"run", "--limit", "60%", "--no-recompute", "--host-limit", "1GB", "--device", "cpu", "--", "sh", "-c",
       "echo $EBB_LIMIT $EBB_RECOMPUTE $EBB_HOST_LIMIT $EBB_DEVICE; test $EBB_PROCESS = $$"});
  EXPECT_EQ(outcome.out, "60% 0 1GB cpu\n") << outcome.err;
  EXPECT_EQ(outcome.code, 0);
}

TEST(Launch, WhatCanBeIsComputedAgainByDefault) {
  EXPECT_EQ(run_ebb({"run", "--limit", "1GiB", "--", "sh", "-c", "echo $EBB_RECOMPUTE"}).out, "1\n");
}

TEST(Launch, ThePlannerIsEbbUnlessAnotherOrNoneIsNamed) {
  const std::vector<std::string> show{"--", "sh", "-c", "echo $EBB_PLANNER"};
  const auto handed_over = [&](std::vector<std::string> words) {
    words.insert(words.end(), show.begin(), show.end());
    return run_ebb(words).out;
  };
  EXPECT_EQ(handed_over({"run", "--limit", "1GiB"}), "ebb\n");
  EXPECT_EQ(handed_over({"run", "--limit", "1GiB", "--planner", "keep"}), "keep\n");
  EXPECT_EQ(handed_over({"run", "--limit", "1GiB", "--planner", "none"}), "none\n");
}

TEST(Launch, ThePackageComesFirstOnPythonsPathAndTheUsersStays) {
  const Outcome outcome = run_shell("PYTHONPATH=/mine ebb run --limit 1GiB -- sh -c 'echo $PYTHONPATH'");
  EXPECT_TRUE(outcome.out.ends_with(":/mine\n")) << outcome.out;
  EXPECT_NE(outcome.out.find("/ebb/startup:"), std::string::npos) << outcome.out;
}

TEST(Launch, AnOuterRunDoesNotLeakIntoAnInnerRecord) {
  const Outcome outcome = run_shell(
      "EBB_LIMIT=1GiB EBB_PLANNER=keep ebb record -o t.ebb -- sh -c 'echo \"$EBB_LIMIT$EBB_PLANNER\" "
      "${EBB_RECORD##*/}'");
  EXPECT_EQ(outcome.out, " t.ebb\n") << outcome.err;
}

TEST(Launch, SaysInALineWhatCannotBeDone) {
  struct Case {
    std::vector<std::string> words;
    int code;
    std::string sentence;
  };
  for (const Case& c :
       {Case{{"run", "--limit", "8gigs", "--", "true"}, 2, "8gigs"},
        Case{{"run", "--limit", "8GiB"}, 2, "PROGRAM is required"},
        Case{{"run", "--", "true"}, 2, "--limit is required"},
        Case{{"run", "--limit", "1GiB", "--planner", "nosuch", "--", "true"}, 2, "no planner 'nosuch'"},
        Case{{"run", "--limit", "1GiB", "--", "no-such-program"}, 3, "cannot run no-such-program"},
        Case{{"record", "-o", "no/such/x.ebb", "--", "true"}, 3, "cannot write no/such/x.ebb"}}) {
    const Outcome outcome = run_ebb(c.words);
    EXPECT_EQ(outcome.code, c.code) << outcome.err;
    EXPECT_NE(outcome.err.find(c.sentence), std::string::npos) << outcome.err;
    EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
  }
}

}  // namespace
}  // namespace ebb::cli
