#include "machine/machine_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "expect_error.h"
#include "machine/presets.h"

namespace ebb {
namespace {

TEST(MachineFile, EveryPresetSurvivesWritingAndReading) {
  for (const Machine& machine : machine_presets())
    EXPECT_EQ(parse_machine(to_json(machine), "test"), machine) << machine.name;
}

TEST(MachineFile, EveryFieldSurvivesWritingAndReading) {
  const Machine machine{.name = "all",
                        .source = "a test",
                        .compute_scale = 1.0 / 3,
                        .op_scale = {{"aten::convolution", 7.25}, {"add", 0.1}},
                        .teraflops = 12.5,
                        .memory_gb_per_s = 333.25,
                        .bandwidth_out = 1'234'567'891,
                        .bandwidth_in = 2'345'678'912,
                        .bandwidth_both = 3'456'789'123,
                        .latency_out = 47'001,
                        .latency_in = 10'002,
                        .op_issue = 41'003,
                        .follow_issue = 3'007,
                        .replay_issue = 27'006,
                        .copy_issue = 9'004,
                        .host_lead = 20'000'005,
                        .exclusive = true,
                        .compute_stretch = {1'000'000, 1'012'345, 1'023'456, 1'034'567},
                        .worst_stretch = true,
                        .device_bytes = 11 * kGiB + 1,
                        .host_bytes = 64 * kGiB + 3};
  EXPECT_EQ(parse_machine(to_json(machine), "test"), machine);
}

TEST(MachineFile, APartialFileOverridesItsBase) {
  Machine expected = find_preset("h200");
  expected.name = "slow";
  expected.bandwidth_in = 12'000'000'000;
  expected.latency_out = 10'000;
  expected.op_scale["aten::add"] = 2;
  EXPECT_EQ(parse_machine(R"({"base": "h200", "name": "slow", "bandwidth_in": "12GB/s", "latency_out": "10us",
                              "op_scale": {"aten::add": 2}})",
                          "test"),
            expected);
}

TEST(MachineFile, WithoutABaseBothBandwidthsAreNeeded) {
  EXPECT_INPUT_ERROR(parse_machine(R"({"bandwidth_in": 5})", "m.json"), "m.json", "bandwidth_out");
  EXPECT_EQ(parse_machine(R"({"bandwidth_in": 5, "bandwidth_out": 6})", "m.json").bandwidth_out, 6);
}

TEST(MachineFile, BadContentIsRefusedWithPlaceAndField) {
  EXPECT_INPUT_ERROR(parse_machine("{", "m.json"), "m.json", "parse error");
  EXPECT_INPUT_ERROR(parse_machine("[]", "m.json"), "m.json", "object");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "bandwith_in": 5})", "m.json"), "m.json",
                     "'bandwith_in'", "bandwidth_in");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h2000"})", "m.json"), "m.json", "h2000");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "latency_in": -1})", "m.json"), "negative");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "latency_in": [1]})", "m.json"), "latency_in",
                     "array");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "bandwidth_in": 0})", "m.json"), "bandwidth_in");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "stretch_in": 0.9})", "m.json"), "stretch_in",
                     "at least 1");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "compute_scale": 0})", "m.json"), "compute_scale");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "op_scale": {"add": "x"}})", "m.json"),
                     "op_scale.add");
  EXPECT_INPUT_ERROR(parse_machine(R"({"base": "h200", "exclusive": "maybe"})", "m.json"), "exclusive",
                     "maybe");
}

TEST(MachineFile, OneFieldIsOverriddenByNameWithUnits) {
  Machine machine = find_preset("h200");
  apply_override(machine, "bandwidth_in=12GB/s");
  apply_override(machine, "bandwidth_both=0");
  apply_override(machine, "latency_out=47us");
  apply_override(machine, "exclusive=true");
  apply_override(machine, "stretch_both=1.5");
  apply_override(machine, "host_bytes=64GiB");
  apply_override(machine, "compute_scale=5.5");
  apply_override(machine, "op_scale.aten::add_.Tensor=2");
  EXPECT_EQ(machine.bandwidth_in, 12'000'000'000);
  EXPECT_EQ(machine.bandwidth_both, 0);
  EXPECT_EQ(machine.latency_out, 47'000);
  EXPECT_TRUE(machine.exclusive);
  EXPECT_EQ(machine.compute_stretch[3], 1'500'000);
  EXPECT_EQ(machine.host_bytes, 64 * kGiB);
  EXPECT_EQ(machine.compute_scale, 5.5);
  EXPECT_EQ(machine.op_scale.at("aten::add_.Tensor"), 2);
}

TEST(MachineFile, ABadOverrideNamesFieldAndValue) {
  Machine machine = find_preset("h200");
  EXPECT_INPUT_ERROR(apply_override(machine, "bandwidth_in"), "bandwidth_in", "field=value");
  EXPECT_INPUT_ERROR(apply_override(machine, "speed=3"), "no field 'speed'", "compute_scale");
  EXPECT_INPUT_ERROR(apply_override(machine, "bandwidth_in=fast"), "fast", "GB/s");
  EXPECT_INPUT_ERROR(apply_override(machine, "op_scale.=2"), "op_scale");
  EXPECT_EQ(machine, find_preset("h200"));
}

TEST(MachineFile, AMachineIsFoundByNameOrByPath) {
  EXPECT_EQ(load_machine("titanx"), find_preset("titanx"));
  const std::string path = (std::filesystem::temp_directory_path() / "ebb-machine-test.json").string();
  std::ofstream(path) << R"({"base": "titanx", "name": "mine"})";
  EXPECT_EQ(load_machine(path).name, "mine");
  std::remove(path.c_str());
  EXPECT_THROW(load_machine(path), SystemError);
}

}  // namespace
}  // namespace ebb
