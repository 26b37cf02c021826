// Every bad input: one sentence with the place, the right exit code, nothing on stdout and no file left
// behind.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "cli/run_ebb.h"

namespace ebb::cli {
namespace {

using Json = nlohmann::json;

Json good_step() {
  return Json::parse(R"({"meta": {"model": "tiny", "plain_step_us": 3},
    "ops": [{"n": "make", "p": "F", "us": 1, "x": 1048576, "r": [0], "w": [1]},
            {"n": "use", "p": "B", "us": 2, "x": 0, "r": [1], "w": []}],
    "blocks": [{"b": 1048576, "a": -1, "f": -2}, {"b": 1048576, "a": 0, "f": 1}]})");
}

struct BadInput : testing::Test {
  const TemporaryFolder folder;

  void expect_complaint(const std::vector<std::string>& arguments, int code,
                        const std::vector<std::string>& parts) {
    const Outcome outcome = run_ebb(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
    for (const std::string& part : parts) EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
  // Every command that reads a trace says the same about it, and leaves no file.
  void expect_bad_trace(const std::string& contents, const std::vector<std::string>& parts) {
    const std::string trace = folder.file("bad.trace", contents);
    std::vector<std::string> all = parts;
    all.push_back(trace);
    const std::string plan = folder.path("plan.json");
    expect_complaint({"inspect", trace}, 2, all);
    expect_complaint({"plan", trace, "--limit", "50%", "-o", plan}, 2, all);
    expect_complaint({"simulate", trace, plan}, 2, all);
    expect_complaint({"bound", trace, "--limit", "50%"}, 2, all);
    expect_complaint({"compare", trace}, 2, all);
    expect_complaint({"convert", trace, folder.path("out")}, 2, all);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"bad.trace"}));
  }
  void expect_bad_step(const std::function<void(Json&)>& spoil, const std::vector<std::string>& parts) {
    Json step = good_step();
    spoil(step);
    expect_bad_trace(step.dump(), parts);
  }
};

TEST_F(BadInput, IsNotWhatTheseTestsStartFrom) {
  EXPECT_EQ(run_ebb({"inspect", folder.file("good.json", good_step().dump())}).code, 0);
}

TEST_F(BadInput, AnOutputThatIsAnInput) {
  const std::string text = good_step().dump();
  const std::string trace = folder.file("good.json", text);
  const std::string again = folder.path("again.json");
  std::filesystem::create_symlink(trace, again);
  for (const std::string& output : {trace, again}) {
    expect_complaint({"plan", trace, "--limit", "100%", "-o", output}, 2, {output, "is read, too"});
    expect_complaint({"pack", trace, "--svg", output}, 2, {output, "is read, too"});
    expect_complaint({"compare", trace, "--svg", output}, 2, {output, "is read, too"});
    expect_complaint({"report", trace, "-o", output}, 2, {output, "is read, too"});
    expect_complaint({"convert", trace, output}, 2, {output, "is read, too"});
  }
  EXPECT_EQ(slurp(trace), text);
  expect_complaint({"plan", trace, "--limit", "100%", "-o", "-"}, 2, {"/dev/stdout"});
}

TEST_F(BadInput, ATruncatedGzip) {
  const std::string whole = slurp(bundled("unet"));
  expect_bad_trace(whole.substr(0, whole.size() / 2), {"truncated"});
}

TEST_F(BadInput, ACorruptGzip) {
  std::string bytes = slurp(bundled("unet"));
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 16; ++i) bytes[i] = '\x55';
  expect_bad_trace(bytes, {"corrupt"});
}

TEST_F(BadInput, MalformedJson) {
  const std::string good = good_step().dump();
  expect_bad_trace(good.substr(0, good.size() - 5), {});
  expect_bad_trace("{\"ops\": [}", {});
  expect_bad_trace("", {});
  expect_bad_trace("hello", {});
  expect_bad_trace("[1, 2]", {});
}

TEST_F(BadInput, AnEmptyOrUnknownKindOfTrace) {
  expect_bad_trace("{}", {"neither a step trace"});
  expect_bad_trace(R"({"ops": [], "blocks": []})", {});
}

TEST_F(BadInput, ABlockThatDoesNotExist) {
  expect_bad_step([](Json& step) { step["ops"][1]["r"] = {7}; }, {"ops[1]", "'use'", "block 7"});
}

TEST_F(BadInput, AReadBeforeBirth) {
  expect_bad_step([](Json& step) { step["blocks"][1]["a"] = 1; }, {"ops[0]", "'make'", "block 1", "before"});
}

TEST_F(BadInput, ANegativeOrOverflowingSize) {
  expect_bad_step([](Json& step) { step["blocks"][1]["b"] = -4; }, {"blocks[1]", "\"b\"", "-4"});
  expect_bad_step([](Json& step) { step["blocks"][1]["b"] = 1e300; }, {"blocks[1]", "\"b\""});
  expect_bad_step([](Json& step) { step["blocks"][0]["b"] = step["blocks"][1]["b"] = std::int64_t{1} << 60; },
                  {});
  expect_bad_step([](Json& step) { step["ops"][0]["x"] = 18446744073709551615u; }, {"ops[0]", "\"x\""});
}

TEST_F(BadInput, ATimeThatIsNoTime) {
  std::string text = good_step().dump();
  text.replace(text.find("\"us\":1"), 6, "\"us\":NaN");
  expect_bad_trace(text, {});
  expect_bad_step([](Json& step) { step["ops"][0]["us"] = -1; }, {"ops[0]", "\"us\""});
  expect_bad_step([](Json& step) { step["ops"][0]["us"] = nullptr; }, {"ops[0]", "\"us\""});
  expect_bad_step([](Json& step) { step["ops"][0]["us"] = 1e300; }, {"ops[0]", "\"us\""});
}

TEST_F(BadInput, AnEbbTraceThatIsCutOff) {
  const std::string trace = folder.path("t");
  ASSERT_EQ(run_ebb({"convert", bundled("unet"), trace}).code, 0);
  const std::string whole = slurp(trace);
  std::remove(trace.c_str());
  expect_bad_trace(whole.substr(0, whole.size() - 100), {"chunk"});
}

TEST_F(BadInput, AnUnknownPlannerOrMachineIsAnsweredWithThoseThereAre) {
  expect_complaint({"plan", bundled("unet"), "-l", "50%", "-p", "magic"}, 2, {"'magic'", "ondemand"});
  expect_complaint({"compare", bundled("unet"), "--planners", "keep,magic"}, 2, {"'magic'", "ondemand"});
  expect_complaint({"plan", bundled("unet"), "-l", "50%", "-m", "abacus"}, 2, {"'abacus'", "h200"});
  expect_complaint({"compare", bundled("unet"), "-m", "h200,abacus"}, 2, {"'abacus'", "h200"});
  expect_complaint({"machines", "abacus"}, 2, {"'abacus'", "h200"});
  expect_complaint({"machines", "h200", "--measure"}, 2, {"--measure"});
  expect_complaint({"machines", "--measure", "--backend", "abacus"}, 2, {"--backend"});
}

TEST_F(BadInput, AMachineFileOrFieldThatCannotBe) {
  const std::string file = folder.file("m.json", "{\"base\": \"h200\", \"bandwith_in\": 3}");
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "-m", file}, 2, {file, "bandwith_in"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "-m", folder.file("n.json", "{")}, 2, {"n.json"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "--set", "bandwidth_in=0"}, 2,
                   {"--set bandwidth_in=0"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "--set", "bandwidth_in"}, 2, {"field=value"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "--scale", "-1"}, 2, {"--scale"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "--scale", "nan"}, 2, {"--scale"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "--step-time", "fast"}, 2, {"'fast'"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "--step-time", "1s", "--scale", "2"}, 2,
                   {"--step-time"});
}

TEST_F(BadInput, ACsvOrAlgorithmThatPackCannotUse) {
  expect_complaint({"pack", folder.file("a.csv", "id,lower,upper,size\n1,0,2,x\n")}, 2, {"a.csv:2"});
  expect_complaint({"pack", folder.file("b.csv", "id,lower,upper,size\n1,0,2,-1\n")}, 2, {"b.csv:2", "-1"});
  expect_complaint({"pack", folder.path("none.csv")}, 3, {"none.csv"});
  expect_complaint({"pack", bundled("unet"), "-a", "magic"}, 2, {"'magic'", "smartpool-best"});
  expect_complaint({"pack", bundled("unet"), "-a", "torch", "-o", folder.path("out.csv")}, 2,
                   {"torch", "offsets"});
}

TEST_F(BadInput, APackingProblemThatIsNone) {
  const std::string header = "id,lower,upper,size\n";
  const std::string half = std::to_string(std::int64_t{1} << 62);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "no buffers"},
      {header, "no buffers"},
      {header + "1,0,2,0\n", "size"},
      {header + "1,2,2,8\n", "lifetime"},
      {header + "1,3,2,8\n", "lifetime"},
      {header + "7,0,2,8\n7,1,3,8\n", "7"},
      {header + "1,0,2," + half + "\n2,5,6," + half + "\n", "overflow"},
      {header + "1,0,2,99999999999999999999\n", "p.csv:2"}};
  for (const auto& [contents, part] : bad)
    expect_complaint({"pack", folder.file("p.csv", contents), "-o", folder.path("out.csv")}, 2,
                     {"p.csv", part});
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"p.csv"}));
  const std::string good = folder.file("good.csv", header + "1,0,2,8\n");
  expect_complaint({"pack", good, "--capacity", "8", "--minimize"}, 2, {"--minimize"});
  expect_complaint({"pack", good, "--capacity", "much"}, 2, {"'much'"});
}

TEST_F(BadInput, ALimitThatIsNone) {
  for (const char* limit : {"lots", "0", "-3GiB", "0%", "nan%", "99999999TiB"})
    expect_complaint({"plan", bundled("unet"), std::string("--limit=") + limit}, 2, {limit});
  expect_complaint({"compare", bundled("unet"), "--limits", "90%,,50%"}, 2, {"--limits"});
}

TEST_F(BadInput, ALimitBelowWhatASingleOpNeedsIsAnAnswer) {
  expect_complaint({"plan", bundled("unet"), "--limit", "1%"}, 1,
                   {"op ", "alone needs", "bytes", "smallest limit"});
}

TEST_F(BadInput, ACommandLineThatMakesNoSense) {
  expect_complaint({}, 2, {"--help"});
  expect_complaint({"fly"}, 2, {"'fly'", "--help"});
  expect_complaint({"plan", bundled("unet")}, 2, {"--limit", "ebb plan --help"});
  expect_complaint({"inspect"}, 2, {"TRACE"});
  expect_complaint({"inspect", bundled("unet"), "--colour"}, 2, {"--colour"});
  expect_complaint({"plan", bundled("unet"), "-l", "50%", "--threads", "many"}, 2, {"--threads"});
  expect_complaint({"plan", bundled("unet"), "-l", "50%", "--deadline", "-1"}, 2, {"--deadline"});
  expect_complaint({"inspect", bundled("unet"), "--smallest-managed", "few"}, 2, {"'few'"});
}

TEST_F(BadInput, AFileThatIsNotThereIsTheSystemsFault) {
  expect_complaint({"inspect", "/nowhere/x.json"}, 3, {"/nowhere/x.json", "No such file"});
  expect_complaint({"inspect", "/"}, 3, {});
  expect_complaint({"simulate", bundled("unet"), "/nowhere/plan.json"}, 3, {"/nowhere/plan.json"});
  expect_complaint({"bound", bundled("unet"), "-l", "50%", "-m", "/nowhere/m.json"}, 3, {"/nowhere/m.json"});
}

TEST_F(BadInput, AnOutputThatCannotBeWritten) {
  expect_complaint({"plan", bundled("unet"), "-l", "60%", "-o", "/nowhere/plan.json"}, 3,
                   {"/nowhere/plan.json"});
  expect_complaint({"plan", bundled("unet"), "-l", "60%", "-o", folder.path("")}, 3, {});
  const std::string plan = folder.path("plan.json");
  ASSERT_EQ(run_ebb({"plan", bundled("unet"), "-l", "60%", "-p", "ondemand", "-o", plan}).code, 0);
  expect_complaint({"report", bundled("unet"), "--plan", plan, "--perfetto", "/nowhere/t.json"}, 3,
                   {"/nowhere/t.json"});
}

TEST_F(BadInput, ThePlanOfAnotherStepLeavesTheOldFileAlone) {
  const std::string plan = folder.path("plan.json");
  ASSERT_EQ(run_ebb({"plan", bundled("unet"), "-l", "60%", "-p", "ondemand", "-o", plan}).code, 0);
  const std::string before = slurp(plan);
  expect_complaint({"simulate", bundled("vgg16"), plan}, 2, {plan, "fingerprint"});
  expect_complaint({"plan", bundled("unet"), "-l", "1%", "-o", plan}, 1, {});
  EXPECT_EQ(slurp(plan), before);
}

TEST_F(BadInput, APlanWhoseTimingCannotBeIsAnAnswer) {
  const std::string plan = folder.path("plan.json");
  ASSERT_EQ(run_ebb({"plan", bundled("unet"), "-l", "60%", "-p", "ondemand", "-o", plan}).code, 0);
  Json json = Json::parse(slurp(plan));
  json["decisions"][0]["out_after"] = 700;
  expect_complaint({"simulate", bundled("unet"), folder.file("odd.json", json.dump())}, 1, {"block"});
}

}  // namespace
}  // namespace ebb::cli
