// The commands as a user runs them, on the bundled traces.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/run_ebb.h"

namespace ebb::cli {
namespace {

using Json = nlohmann::json;

TEST(Ebb, PrintsItsVersion) {
  const Outcome outcome = run_ebb({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out.rfind("ebb ", 0), 0u);
}

TEST(Ebb, DocumentsItsExitCodes) {
  const Outcome outcome = run_ebb({"--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("Exit codes:"), std::string::npos);
}

TEST(Ebb, HasAnExampleForEachCommand) {
  for (const char* command : {"inspect", "plan", "simulate", "bound", "compare", "batch", "machines",
                              "planners", "convert", "pack", "generate"}) {
    const Outcome outcome = run_ebb({command, "--help"});
    EXPECT_EQ(outcome.code, 0) << command;
    EXPECT_NE(outcome.out.find("Example: ebb " + std::string(command)), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Inspect, KnowsResnet50) {
  const Outcome outcome = run_ebb({"inspect", bundled("resnet50"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = outcome.json();
  EXPECT_EQ(json["ops"], 891);
  EXPECT_EQ(json["peak_load"]["bytes"].get<std::int64_t>() >> 20, 21371);
  EXPECT_EQ(json["measured_step_ns"], 117256300);
  EXPECT_EQ(json["unmanaged_bytes"], 0);
  for (const char* key :
       {"trace", "program", "fingerprint", "blocks", "managed_blocks", "gaps", "smallest_limit", "phases",
        "op_types", "idle_across_peak", "largest_gaps", "lifetimes", "compute_ns"})
    EXPECT_TRUE(json.contains(key)) << key;
}

TEST(Inspect, ComesCloseToWhatTorchReported) {
  const std::pair<const char*, std::int64_t> reported[] = {{"resnet50", 22487039488}};
  for (const auto& [name, bytes] : reported) {
    const std::int64_t ours = run_ebb({"inspect", bundled(name), "--json"}).json()["peak_demand"]["bytes"];
    EXPECT_GE(ours, bytes - (200 << 20));
    EXPECT_EQ(
        run_ebb({"inspect", bundled(name), "--json", "--with-unmanaged"}).json()["peak_demand"]["bytes"],
        bytes);
  }
}

TEST(Inspect, ShowsAStepAsAChain) {
  const Json json =
      run_ebb({"inspect", bundled("vgg16"), "--chain", "--machine", "v100-pcie3", "--json"}).json();
  EXPECT_EQ(json["bandwidth_bytes_per_s"], 12'200'000'000);
  EXPECT_EQ(json["layers"].size(), 26u);  // 13 convolutions, 6 poolings, 5 of the classifier, softmax, loss
  const Outcome text = run_ebb({"inspect", bundled("vgg16"), "--chain"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("ex_B MiB"), std::string::npos);
}

TEST(Inspect, PrintsTablesForPeople) {
  const Outcome outcome = run_ebb({"inspect", bundled("resnet50")});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("ops             891\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("peak load       21371 MiB"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("over time       ▁"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("GiB |"), std::string::npos) << "a plot where nobody asked for one";
  EXPECT_NE(run_ebb({"inspect", bundled("resnet50"), "--plot"}).out.find("GiB |"), std::string::npos);
}

TEST(Plan, KeepsTheLimitAndSaysWhatItCosts) {
  for (const char* name : {"resnet50", "gpt2", "unet", "vgg16"}) {
    const Outcome outcome =
        run_ebb({"plan", bundled(name), "--limit", "90%", "--planner", "ondemand", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = outcome.json();
    EXPECT_EQ(json["feasible"], true);
    EXPECT_LE(json["peak_demand_bytes"], json["limit_bytes"]);
    EXPECT_GE(json["ratio"].get<double>(), json["bound"]["ratio"].get<double>());
    EXPECT_GT(json["bytes_out"], 0);
    for (const char* key :
         {"step_ns", "plain_ns", "overhead_ns", "stalls_ns", "recompute_ns", "host_peak_bytes", "swaps",
          "recomputes", "planning_seconds", "peak_demand_before_bytes"})
      EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(Plan, AnswersThatKeepDoesNotFit) {
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb(
      {"plan", bundled("unet"), "--limit", "90%", "--planner", "keep", "-o", folder.path("plan.json")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
  EXPECT_TRUE(folder.names().empty()) << "no file without a plan";
}

TEST(Plan, ExplainsInJsonTooWhyThereIsNone) {
  const Outcome outcome = run_ebb({"plan", bundled("unet"), "--limit", "90%", "--planner", "keep", "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.json()["feasible"], false);
  EXPECT_FALSE(outcome.json()["reason"].get<std::string>().empty());
}

TEST(Plan, NamesTheOpForWhichALimitIsTooSmall) {
  const Outcome outcome = run_ebb({"plan", bundled("resnet50"), "--limit", "1GiB"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "ebb: no plan can keep a limit of 1.000 GiB (1073741824 bytes): op 362 "
            "'aten::convolution_backward' alone needs "
            "3.072 GiB (3298744976 bytes), which is the smallest limit\n");
}

TEST(Plan, IsTheSameTwice) {
  const auto plan = [] {
    Json json = run_ebb({"plan", bundled("unet"), "--limit", "60%", "--evaluations", "200", "--json"}).json();
    json.erase("planning_seconds");
    return json;
  };
  EXPECT_EQ(plan(), plan());
}

TEST(Simulate, JudgesAWrittenPlanAsPlanDid) {
  const TemporaryFolder folder;
  for (const char* machine : {"h200", "v100-pcie3"}) {
    const Json planned =
        run_ebb({"plan", bundled("resnet50"), "-l", "60%", "-p", "ondemand", "-m", machine, "--set",
                 "latency_in=20us", "--scale", "2", "-o", folder.path("plan.json"), "--json"})
            .json();
    const Json simulated =
        run_ebb({"simulate", bundled("resnet50"), folder.path("plan.json"), "--json"}).json();
    for (const char* key : {"step_ns", "plain_ns", "peak_demand_bytes", "stalls_ns", "bytes_in", "bytes_out",
                            "machine", "limit_bytes", "planner"})
      EXPECT_EQ(simulated[key], planned[key]) << key;
  }
}

TEST(Report, WritesATimelineOfThePlanBesideTheStepAsItIs) {
  const TemporaryFolder folder;
  run_ebb({"plan", bundled("unet"), "-l", "60%", "-p", "ondemand", "-o", folder.path("plan.json")});
  const Outcome outcome = run_ebb({"report", bundled("unet"), "--plan", folder.path("plan.json"),
                                   "--perfetto", folder.path("timeline.json")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json events = Json::parse(slurp(folder.path("timeline.json")))["traceEvents"];
  EXPECT_GT(events.size(), 2 * 403u);
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const Json& event) { return event["name"] == "process_name"; }),
            2);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"plan.json", "timeline.json"}));
}

TEST(Report, WantsAFileToWriteAndALimitToCompareWith) {
  EXPECT_EQ(run_ebb({"report", bundled("unet")}).code, 2);
  EXPECT_EQ(run_ebb({"report", bundled("unet"), "--perfetto", "x.json", "--compare", "50%"}).code, 2);
  EXPECT_EQ(run_ebb({"report", bundled("unet"), "--perfetto", "x.json", "--measured", bundled("unet")}).code,
            2);
}

TEST(Compare, DrawsAFigure) {
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb({"compare", bundled("vgg16"), "--limits", "80%,60%", "--planners",
                                   "ondemand,dtr", "--svg", folder.path("figure.svg")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string figure = slurp(folder.path("figure.svg"));
  EXPECT_TRUE(figure.starts_with("<svg"));
  for (const char* name : {">ondemand</text>", ">dtr</text>", ">bound</text>", "vgg16 on h200"})
    EXPECT_NE(figure.find(name), std::string::npos) << name;
}

TEST(Simulate, AnswersThatAPlanDoesNotKeepASmallerLimit) {
  const TemporaryFolder folder;
  run_ebb({"plan", bundled("unet"), "-l", "60%", "-p", "ondemand", "-o", folder.path("plan.json")});
  const Outcome outcome = run_ebb({"simulate", bundled("unet"), folder.path("plan.json"), "--limit", "50%"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"plan.json"}));
}

TEST(Bound, SaysWhichOneBinds) {
  const Outcome outcome = run_ebb({"bound", bundled("resnet50"), "--limit", "50%", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = outcome.json();
  for (const char* key : {"compute", "transfer", "cover", "fluid_swap", "fluid"})
    EXPECT_GE(json["bounds"][key]["ratio"], 1.0) << key;
  for (const char* key : {"any", "swap_only", "recompute_only"})
    EXPECT_TRUE(json["binding"][key].contains("kind")) << key;
  EXPECT_LE(json["binding"]["any"]["ratio"], json["binding"]["swap_only"]["ratio"]);
}

TEST(Bound, AnswersThatNoPlanKeepsATinyLimit) {
  const Outcome outcome = run_ebb({"bound", bundled("resnet50"), "--limit", "1GiB"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.complains_in_one_line()) << outcome.err;
}

TEST(Compare, ShowsEveryPlannerAtEveryLimit) {
  const Outcome outcome = run_ebb({"compare", bundled("unet"), bundled("vgg16"), "--limits", "100%,90%,10%",
                                   "--machine", "h200,titanx", "--evaluations", "12", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = outcome.json();
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[1]["machine"], "titanx");
  const Json& limits = json[0]["limits"];
  ASSERT_EQ(limits.size(), 3u);
  EXPECT_EQ(limits[0]["plans"].size(), run_ebb({"planners", "--json"}).json().size());
  EXPECT_EQ(limits[0]["plans"][0]["planner"], "keep");
  EXPECT_EQ(limits[0]["plans"][0]["ratio"], 1.0);
  EXPECT_EQ(limits[1]["plans"][0]["feasible"], false);
  EXPECT_NE(limits[2]["plans"][0]["reason"].get<std::string>().find("smallest limit"), std::string::npos);
}

TEST(Compare, WritesCsvWithOneLinePerCell) {
  const Outcome outcome =
      run_ebb({"compare", bundled("unet"), "--limits", "90%,70%", "--planners", "keep,ondemand", "--csv"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 5);
  EXPECT_EQ(outcome.out.rfind("trace,machine,limit,limit_bytes,planner,feasible,", 0), 0u);
}

TEST(Machines, PrintsWhatAMachineFileHolds) {
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb({"machines", "gtx1080ti", "--json"});
  const std::string file = folder.file("mine.json", outcome.out);
  EXPECT_EQ(run_ebb({"machines", file, "--json"}).out, outcome.out);
  EXPECT_EQ(run_ebb({"machines", "--json"}).json().size(), 6u);
}

TEST(Machines, MeasuresThisOneAsAMachineFileThatPlansCanUse) {
  const TemporaryFolder folder;
  const std::string file = folder.path("here.json");
  const Outcome outcome = run_ebb({"machines", "--measure", "--backend", "host", "-o", file, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["name"], "measured-host");
  for (const char* field : {"bandwidth_out", "bandwidth_in", "bandwidth_both", "pin_seconds_per_gib"})
    EXPECT_GT(outcome.json()[field].get<double>(), 0) << field;
  EXPECT_EQ(run_ebb({"machines", file, "--json"}).out, outcome.out);
  EXPECT_EQ(run_ebb({"bound", bundled("unet"), "--limit", "90%", "--machine", file}).code, 0);
}

TEST(Pack, PacksAStepAndComparesWithOthers) {
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb({"pack", bundled("unet"), "--compare", "--json", "-o",
                                   folder.path("offsets.csv"), "--svg", folder.path("layout.svg")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json layouts = outcome.json()["layouts"];
  EXPECT_EQ(layouts[0]["algorithm"], "pack");
  for (const Json& layout : layouts)
    EXPECT_LE(layouts[0]["footprint_bytes"], layout["footprint_bytes"]) << layout;
  EXPECT_EQ(slurp(folder.path("offsets.csv")).rfind("id,lower,upper,size,offset\n", 0), 0u);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"layout.svg", "offsets.csv"}));
}

TEST(Pack, AnswersThatACapacityBelowTheLoadCannotBe) {
  const TemporaryFolder folder;
  const std::string csv = folder.file("two.csv", "id,lower,upper,size\n1,0,2,10\n2,1,3,10\n");
  EXPECT_EQ(run_ebb({"pack", csv, "--capacity", "20"}).code, 0);
  EXPECT_EQ(run_ebb({"pack", csv, "--minimize", "--json"}).json()["layouts"][0]["footprint_bytes"], 20);
  const Outcome outcome = run_ebb({"pack", csv, "--capacity", "19", "-o", folder.path("offsets.csv")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "ebb: pack found no layout within 19 bytes: there is none; the load is 20 bytes\n");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"two.csv"}));
}

TEST(Plan, PacksWhatStaysAndSaysTheFootprintBesideTheLoad) {
  const auto plan = [](const char* packer) {
    return run_ebb({"plan", bundled("vgg16"), "-l", "90%", "-p", "ondemand", "--pack", packer, "--no-bound",
                    "--json"})
        .json();
  };
  const Json smartpool = plan("smartpool"), cnmem = plan("cnmem");
  EXPECT_EQ(smartpool["packing"]["algorithm"], "smartpool-best");
  EXPECT_LT(smartpool["packing"]["load_bytes"], smartpool["peak_demand_before_bytes"]);
  EXPECT_EQ(smartpool["packing"]["load_bytes"], cnmem["packing"]["load_bytes"]);
  for (const Json& json : {smartpool, cnmem})
    EXPECT_GE(json["packing"]["footprint_bytes"], json["packing"]["load_bytes"]);
  const Outcome text =
      run_ebb({"plan", bundled("vgg16"), "-l", "90%", "-p", "ondemand", "--pack", "smartpool", "--no-bound"});
  EXPECT_NE(text.out.find("by smartpool-best"), std::string::npos) << text.out;
}

TEST(Plan, AnUnknownPackerIsRefusedBeforeAnythingIsPlanned) {
  const Outcome outcome = run_ebb({"plan", bundled("unet"), "-l", "60%", "--pack", "magic"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("no packing algorithm 'magic'"), std::string::npos) << outcome.err;
}

TEST(Pack, PacksAStepAsAPlanRunsIt) {
  const TemporaryFolder folder;
  run_ebb({"plan", bundled("unet"), "-l", "60%", "-p", "ondemand", "-o", folder.path("plan.json")});
  const Outcome outcome = run_ebb(
      {"pack", bundled("unet"), "--plan", folder.path("plan.json"), "-a", "smartpool-best", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.json()["load_bytes"],
            run_ebb({"pack", bundled("unet"), "-a", "smartpool-best", "--json"}).json()["load_bytes"]);
}

TEST(Convert, GivesATraceWithTheSameIteration) {
  const TemporaryFolder folder;
  const Outcome outcome = run_ebb({"convert", bundled("unet"), folder.path("unet.ebbtrace")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json ours = run_ebb({"inspect", folder.path("unet.ebbtrace"), "--json"}).json();
  const Json theirs = run_ebb({"inspect", bundled("unet"), "--json"}).json();
  for (const char* key : {"ops", "compute_ns"}) EXPECT_EQ(ours[key], theirs[key]) << key;
  EXPECT_EQ(ours["peak_demand"]["bytes"], theirs["peak_demand"]["bytes"]);
}

TEST(Ebb, WorksInAPipe) {
  const Outcome outcome = run_shell("ebb inspect " + bundled("resnet50") + " | head -n 2");
  EXPECT_EQ(outcome.out, "program         resnet50\nops             891\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(run_shell("ebb inspect " + bundled("resnet50") + " --json | grep -c peak_load").out, "1\n");
}

TEST(Ebb, SaysSoIfItsOutputCannotBeWritten) {
  const Outcome outcome = run_shell("ebb machines >/dev/full");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "ebb: cannot write to the standard output: No space left on device\n");
}

TEST(Generate, WritesAStepThatEveryCommandReads) {
  const TemporaryFolder folder;
  const std::string file = folder.path("resnet.json.gz");
  const Outcome made = run_ebb({"generate", "resnet", "--depth", "26", "--batch", "2", "-o", file, "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  const Json seen = run_ebb({"inspect", file, "--json", "--sharing"}).json();
  EXPECT_EQ(seen["ops"], made.json()["ops"]);
  EXPECT_EQ(seen["peak_demand"]["bytes"], made.json()["peak_demand_bytes"]);
  EXPECT_GT(seen["sharing"]["no_optimisation_bytes"], seen["sharing"]["in_place_bytes"]);
  EXPECT_GT(seen["sharing"]["in_place_bytes"], seen["sharing"]["sharing_bytes"]);
}

TEST(Plan, FollowsMirrorCountsFromAFile) {
  const TemporaryFolder folder;
  const std::string counts = folder.file("counts", "* 1\naten::convolution 0  # kept\n");
  const std::vector<std::string> command = {
      "plan", bundled("resnet50"), "--limit", "100%", "--mirror", counts, "--json", "--no-bound"};
  const Outcome outcome = run_ebb(command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(outcome.json()["recompute_ns"], 0);
  folder.file("counts", "conv 1\n");
  const Outcome refused = run_ebb(command);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("counts: line 1: no op is called 'conv'"), std::string::npos) << refused.err;
}

TEST(Plan, FindsTheSmallestLimit) {
  const Json json =
      run_ebb({"plan", bundled("unet"), "--smallest", "-p", "ondemand", "--no-bound", "--json"}).json();
  EXPECT_TRUE(json.at("feasible").get<bool>());
  EXPECT_LT(json.at("limit_share").get<double>(), 0.9);
  EXPECT_LE(json.at("peak_demand_bytes").get<std::int64_t>(), json.at("limit_bytes").get<std::int64_t>());
  EXPECT_FALSE(json.at("smallest").get<std::string>().empty());
}

TEST(Compare, DrawsTheCurveDownToTheSmallestLimit) {
  const Outcome outcome = run_ebb({"compare", bundled("vgg16"), "--curve", "-p", "ondemand"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("95%"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("GiB  "), std::string::npos) << outcome.out;
  const Outcome upwards = run_ebb({"compare", bundled("vgg16"), "--curve", "-l", "80%,90%"});
  EXPECT_EQ(upwards.code, 2) << upwards.err;
}

}  // namespace
}  // namespace ebb::cli
