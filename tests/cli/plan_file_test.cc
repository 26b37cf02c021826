#include "plan/plan_file.h"

#include <gtest/gtest.h>

#include <random>

#include "cli/run_ebb.h"
#include "cli/small_program.h"
#include "machine/presets.h"
#include "planners/judge.h"
#include "trace/error.h"
#include "trace/load.h"

namespace ebb::cli {
namespace {

using Json = nlohmann::json;

struct PlanFile : testing::Test {
  const Program program = small_program();
  const Gaps gaps{program};
  const GapId between = gaps.find(1, 1);

  PlanRecord record() const {
    PlanRecord record{.limit = 123 * kMiB,
                      .machine = find_preset("h200"),
                      .planner = "someone",
                      .plan = Plan::keep_all(gaps)};
    record.plan[between].action = Action::swap;
    return record;
  }
  Json encoded() const { return Json::parse(encode_plan(record(), program, gaps)); }

  std::string complaint_about(const Json& json) const { return complaint_about(json.dump()); }
  std::string complaint_about(const std::string& text) const {
    try {
      decode_plan(text, "p.json", program, gaps);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no complaint";
  }
  // The complaint if the only decision has this field changed.
  std::string complaint_with(const std::string& field, const Json& value) const {
    Json json = encoded();
    json["decisions"][0][field] = value;
    return complaint_about(json);
  }
};

TEST_F(PlanFile, GivesBackWhatWasWritten) {
  PlanRecord written = record();
  written.plan[between] = {.action = Action::swap,
                           .out_after = -3,
                           .out_by = 2,
                           .in_from = 3,
                           .in_by = 3,
                           .out_order = -1000,
                           .in_order = 1000,
                           .stays = std::nullopt};
  EXPECT_EQ(decode_plan(encode_plan(written, program, gaps), "p", program, gaps), written);
}

TEST_F(PlanFile, TellsStaysLeftOpenFromNoStays) {
  for (const auto& stays : {std::optional<std::vector<OpRange>>{}, std::optional(std::vector<OpRange>{}),
                            std::optional(std::vector<OpRange>{{1, 2}, {3, 4}})}) {
    PlanRecord written = record();
    written.plan[between].action = Action::recompute;
    written.plan[between].stays = stays;
    EXPECT_EQ(decode_plan(encode_plan(written, program, gaps), "p", program, gaps), written);
  }
}

TEST_F(PlanFile, GivesBackRandomPlansOfARealStep) {
  const Program real = load_program(bundled("resnet50"));
  const Gaps real_gaps(real);
  std::mt19937 random(7);
  const auto position = [&] {
    return random() % 3 == 0 ? kAuto : static_cast<OpIndex>(random() % 1782) - 891;
  };
  PlanRecord written{
      .limit = kGiB, .machine = find_preset("titanx"), .planner = "r", .plan = Plan::keep_all(real_gaps)};
  for (Decision& decision : written.plan.decisions) {
    if (random() % 3 == 0)
      decision = {Action::swap, position(), position(), position(), position(), position(), position(), {}};
    else if (random() % 2 == 0)
      decision.action = Action::recompute;
  }
  EXPECT_EQ(decode_plan(encode_plan(written, real, real_gaps), "p", real, real_gaps), written);
}

TEST_F(PlanFile, ListsOnlyWhatIsNotKept) { EXPECT_EQ(encoded()["decisions"].size(), 1u); }

TEST_F(PlanFile, CarriesTheWholeMachine) {
  PlanRecord written = record();
  written.machine.bandwidth_in = 12'345'678'901;
  written.machine.op_scale["use"] = 1.25;
  EXPECT_EQ(decode_plan(encode_plan(written, program, gaps), "p", program, gaps).machine, written.machine);
}

TEST_F(PlanFile, IsRefusedForAnotherProgram) {
  Json json = encoded();
  json["program"]["fingerprint"] = "0123456789abcdef";
  EXPECT_EQ(complaint_about(json).rfind(
                "p.json: made for the program \"small\" of 4 ops with fingerprint 0123456789abcdef", 0),
            0u)
      << complaint_about(json);
}

TEST_F(PlanFile, IsRefusedIfItIsNoPlan) {
  EXPECT_EQ(complaint_about(std::string("{\"format\": ")).rfind("p.json: malformed JSON", 0), 0u);
  EXPECT_EQ(complaint_about(std::string("[]")), "p.json: not an Ebb plan (\"format\": \"ebb-plan\")");
  EXPECT_EQ(complaint_about(Json{{"format", 3}}), "p.json: not an Ebb plan (\"format\": \"ebb-plan\")");
  Json json = encoded();
  json["version"] = 2;
  EXPECT_EQ(complaint_about(json), "p.json: plan version 2, but this Ebb reads version 1");
}

TEST_F(PlanFile, IsRefusedIfAMemberIsMissing) {
  for (const char* member : {"version", "program", "limit_bytes", "planner", "machine", "decisions"}) {
    Json json = encoded();
    json.erase(member);
    EXPECT_EQ(complaint_about(json), "p.json: \"" + std::string(member) + "\" is missing");
  }
}

TEST_F(PlanFile, NamesTheDecisionWhoseGapDoesNotExist) {
  EXPECT_EQ(complaint_with("block", 99),
            "p.json: decisions[0]: the program has no between gap of block 99 from op 1 to 3");
  EXPECT_EQ(complaint_with("from", 0),
            "p.json: decisions[0]: the program has no between gap of block 1 from op 0 to 3");
  EXPECT_EQ(complaint_with("to", 4),
            "p.json: decisions[0]: the program has no between gap of block 1 from op 1 to 4");
  EXPECT_EQ(complaint_with("kind", "wrapping"),
            "p.json: decisions[0]: the program has no wrapping gap of block 1 from op 1 to 3");
}

TEST_F(PlanFile, NamesTheDecisionThatIsGivenTwice) {
  Json json = encoded();
  json["decisions"].push_back(json["decisions"][0]);
  EXPECT_EQ(complaint_about(json), "p.json: decisions[1]: the gap of block 1 from op 1 is decided twice");
}

TEST_F(PlanFile, NamesValuesThatCannotBe) {
  EXPECT_EQ(complaint_with("action", "burn"),
            "p.json: decisions[0]: \"action\" is \"burn\": one of keep, swap, recompute is expected");
  EXPECT_EQ(complaint_with("in_from", 1.5),
            "p.json: decisions[0]: \"in_from\" is 1.5: an integer from -4 to 8 is expected");
  EXPECT_EQ(complaint_with("in_from", 9),
            "p.json: decisions[0]: \"in_from\" is 9: an integer from -4 to 8 is expected");
  EXPECT_EQ(complaint_with("in_from", nullptr),
            "p.json: decisions[0]: \"in_from\" is null: an integer from -4 to 8 is expected");
  EXPECT_EQ(
      complaint_with("block", 18446744073709551615u),
      "p.json: decisions[0]: \"block\" is 18446744073709551615: an integer from 0 to 2147483647 is expected");
  EXPECT_EQ(complaint_with("stays", Json::array()), "p.json: decisions[0]: \"stays\" belong to a recompute");
  EXPECT_EQ(complaint_with("colour", 1), "p.json: decisions[0]: unknown field \"colour\"");
}

TEST_F(PlanFile, NamesStaysThatCannotBe) {
  Json json = encoded();
  json["decisions"][0] = {{"block", 1}, {"from", 1}, {"to", 3}, {"kind", "between"}, {"action", "recompute"}};
  const auto complaint = [&](const Json& stays) {
    json["decisions"][0]["stays"] = stays;
    return complaint_about(json);
  };
  EXPECT_EQ(complaint(3), "p.json: decisions[0]: \"stays\" is not a list");
  EXPECT_EQ(complaint({1, 2}), "p.json: decisions[0]: the stay 1 is not a pair [begin, end]");
  EXPECT_EQ(complaint(Json::parse("[[2, 2]]")), "p.json: decisions[0]: the stay [2, 2] is empty");
  EXPECT_EQ(complaint(Json::parse("[[2, 4], [3, 5]]")),
            "p.json: decisions[0]: the stay [3, 5] begins before the one before it ends");
}

TEST_F(PlanFile, HoldsNothingThatTheJudgeCannotAnswer) {
  const Program real = load_program(bundled("unet"));
  const Gaps real_gaps(real);
  const OpIndex n = real.op_count();
  std::mt19937 random(11);
  const auto position = [&](const Gap& gap) -> OpIndex {
    switch (random() % 6) {
      case 0:
        return static_cast<OpIndex>(random() % static_cast<unsigned>(3 * n + 1)) - n;
      case 1:
        return gap.from + static_cast<OpIndex>(random() % 3) - 1;
      case 2:
        return gap.to + static_cast<OpIndex>(random() % 3) - 1;
      default:
        return kAuto;
    }
  };
  int carried_out = 0;
  for (int i = 0; i < 400; ++i) {
    Plan plan = Plan::keep_all(real_gaps);
    const unsigned share = 1u << (random() % 10);  // one gap in so many is decided, from all of them to a few
    for (GapId g = 0; g < real_gaps.count(); ++g) {
      if (random() % share != 0) continue;
      const Gap& gap = real_gaps[g];
      if (random() % 2 == 0) {
        plan[g] = {Action::swap,  position(gap), position(gap), position(gap),
                   position(gap), position(gap), position(gap), {}};
      } else {
        plan[g].action = Action::recompute;
        const OpIndex begin = position(gap);
        if (begin != kAuto) plan[g].stays = {{begin, begin + 1 + static_cast<OpIndex>(random() % 5)}};
      }
    }
    const Bytes limit = real.peak_demand() / 100 * static_cast<Bytes>(40 + random() % 61);
    const JudgedPlan judged = judge({real, real_gaps, find_preset("v100-pcie3"), limit}, plan);
    carried_out += !judged.infeasible;
    EXPECT_TRUE(!judged.infeasible || !judged.infeasible->sentence(real).empty());
    EXPECT_TRUE(judged.infeasible || judged.schedule.commands.empty() || judged.violations.empty());
  }
  EXPECT_GT(carried_out, 0);
}

TEST_F(PlanFile, SurvivesAnyOneByteChanged) {
  const std::string good = encode_plan(record(), program, gaps);
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    complaint_about(bad);
  }
}

}  // namespace
}  // namespace ebb::cli
