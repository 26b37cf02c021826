#include "report/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/small_program.h"
#include "machine/presets.h"
#include "report/comparison_chart.h"
#include "report/page.h"
#include "trace/error.h"

namespace ebb::report {
namespace {

constexpr const char* kHostile = "</script><script>alert(1)</script><!-- \"'& \xff";

Program renamed(const std::string& name) {
  const Program program = cli::small_program();
  std::vector<Op> ops = program.ops();
  ops[0].name = name;
  return Program::build(program.info(), ops, program.blocks());
}

// The activation leaves between its uses.
StepView swapped(const Program& program, const Gaps& gaps, const Machine& machine) {
  Plan plan = Plan::keep_all(gaps);
  plan[gaps.find(1, 1)].action = Action::swap;
  const PlanningProblem problem{program, gaps, machine, 128 * kMiB};
  const JudgedPlan judged = judge(problem, plan);
  EXPECT_FALSE(judged.infeasible);
  StepView view = planned_view(problem, "by hand", judged);
  view.bound = view.step.plain_time;
  return view;
}

nlohmann::json encoded(const Program& program) {
  const Gaps gaps(program);
  const Machine& machine = find_preset("h200");
  Report report{.program = &program, .gaps = &gaps};
  report.steps.push_back(plain_view(program, gaps, machine));
  report.steps.push_back(swapped(program, gaps, machine));
  return nlohmann::json::parse(encode_report(report));
}

TEST(Report, HasTheStepBeforeAndAfter) {
  const auto json = encoded(cli::small_program());
  const auto& plain = json["steps"][0];
  const auto& planned = json["steps"][1];
  EXPECT_EQ(plain["limit"], 0);
  EXPECT_EQ(plain["peak_demand"], 192 * kMiB);
  EXPECT_EQ(planned["peak_demand"], 128 * kMiB);
  EXPECT_LE(planned["footprint"].get<Bytes>(), 128 * kMiB);
  EXPECT_EQ(planned["bytes_out"], 64 * kMiB);
  EXPECT_EQ(planned["timeline"]["out"]["gap"].size(), 1u);
  EXPECT_EQ(planned["timeline"]["compute"]["op"].size(), 4u);
  EXPECT_GT(planned["step"], planned["plain"]);
}

TEST(Report, ColumnsOfATableAreEquallyLong) {
  const auto json = encoded(cli::small_program());
  const auto check = [](const nlohmann::json& table, std::size_t rows) {
    for (const auto& [name, column] : table.items()) {
      const std::size_t length = column.is_string() ? column.get<std::string>().size() : column.size();
      EXPECT_EQ(length, rows) << name;
    }
  };
  check(json["ops"], 4);
  check(json["blocks"], 3);
  check(json["gaps"], json["steps"][0]["decisions"].size());
  for (const auto& step : json["steps"]) check(step["residencies"], step["residencies"]["block"].size());
}

TEST(Report, SaysWhatLimitsTheStep) {
  const auto json = encoded(cli::small_program());
  EXPECT_NE(json["steps"][0]["sentence"].get<std::string>().find("Nothing limits"), std::string::npos);
  EXPECT_NE(json["steps"][1]["sentence"].get<std::string>().find("limits this step"), std::string::npos);
}

TEST(Report, NamesSurviveWhateverTheyAre) {
  const auto json = encoded(renamed(kHostile));
  EXPECT_EQ(json["names"][0], "</script><script>alert(1)</script><!-- \"'& \xef\xbf\xbd");
}

TEST(Report, InThePageNoNameEndsTheScript) {
  const Program program = renamed(kHostile);
  const std::string text = escape_for_script(encoded(program).dump());
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), encoded(program));
}

TEST(Report, ThePageHoldsTheDataOnce) {
  if (!page_is_built()) {
    EXPECT_THROW(render_page("{}"), InputError);
    GTEST_SKIP() << "the page was not built: there is no npm";
  }
  const std::string page = render_page(R"({"mark":"<here>"})");
  EXPECT_NE(page.find(R"({"mark":"\u003chere\u003e"})"), std::string::npos);
  EXPECT_EQ(page.find("\"ebb-report-data\""), std::string::npos);
  EXPECT_EQ(page.find("<script src"), std::string::npos);
  EXPECT_EQ(page.find("<link rel=\"stylesheet\""), std::string::npos);
}

TEST(ComparisonChart, HasALinePerPlannerAndEscapesNames) {
  ComparedLimit limit{.text = "50%", .bytes = 50};
  limit.plans.push_back({.planner = "good"});
  limit.plans.back().step.step_time = 120;
  limit.plans.push_back({.planner = "none", .reason = "too small"});
  const Comparison comparison{
      .trace = "<b>&", .machine = "m", .peak_demand = 100, .plain_time = 100, .limits = {limit}};
  const std::string one = draw_comparisons({comparison});
  EXPECT_NE(one.find(">good</text>"), std::string::npos);
  EXPECT_NE(one.find(">none</text>"), std::string::npos);
  EXPECT_NE(one.find(">bound</text>"), std::string::npos);
  EXPECT_NE(one.find("&lt;b&gt;&amp;"), std::string::npos);
  EXPECT_EQ(one.find("<b>"), std::string::npos);
  EXPECT_NE(one.find("good: 50, 20"), std::string::npos);
  const std::string two = draw_comparisons({comparison, comparison});
  EXPECT_NE(two.find("frame1"), std::string::npos);
}

}  // namespace
}  // namespace ebb::report
