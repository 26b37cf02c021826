#include "trace/import_step.h"

#include <gtest/gtest.h>

#include "trace/expect_error.h"
#include "trace/files.h"
#include "trace/gzip.h"

namespace ebb {
namespace {

Program import_step_of(const std::string& ops, const std::string& blocks, const StepOptions& options = {}) {
  return import_step(R"({"meta":{"model":"m","plain_step_us":7.5,"peak_allocated_bytes":1000},"ops":[)" +
                         ops + R"(],"blocks":[)" + blocks + "]}",
                     "f.json", options);
}

std::string recorded_op(const std::string& phase, const std::string& reads, const std::string& writes,
                        const std::string& rest = "") {
  return R"({"n":"o","p":")" + phase + R"(","us":1.2345,"x":0,"r":[)" + reads + R"(],"w":[)" + writes + "]" +
         rest + "}";
}

std::string block(int bytes, int brought, int freed) {
  return "{\"b\":" + std::to_string(bytes) + ",\"a\":" + std::to_string(brought) +
         ",\"f\":" + std::to_string(freed) + "}";
}

TEST(ImportStep, TakesNamesTimesAndFlags) {
  const Program program = import_step_of(recorded_op("F", "0", "0", R"(,"rng":1)"), block(8, -1, -2));
  EXPECT_EQ(program.info().name, "m");
  EXPECT_EQ(program.info().measured_step, 7500);
  EXPECT_EQ(program.op(0).duration, 1235);
  EXPECT_EQ(program.op(0).phase, Phase::forward);
  EXPECT_TRUE(program.op(0).random);
  EXPECT_EQ(program.op(0).accesses, (std::vector<Access>{{.block = 0, .reads = true, .writes = true}}));
}

TEST(ImportStep, GradientsWrapToTheFirstBackwardOp) {
  const Program program = import_step_of(recorded_op("F", "", "") + "," + recorded_op("F", "", "") + "," +
                                             recorded_op("B", "", "0") + "," + recorded_op("U", "0", ""),
                                         block(8, 2, -2));
  EXPECT_EQ(program.block(0), (Block{.bytes = 8, .lifetime = Lifetime::wrapping, .birth = 2, .death = 1}));
  EXPECT_EQ(program.load(), (std::vector<Bytes>{8, 8, 8, 8}));
}

TEST(ImportStep, WhatOutlivesFromTheForwardPassDiesBeforeItsSuccessor) {
  const Program program = import_step_of(
      recorded_op("F", "", "") + "," + recorded_op("F", "", "0") + "," + recorded_op("B", "", ""),
      block(8, 1, -2));
  EXPECT_EQ(program.block(0), (Block{.bytes = 8, .lifetime = Lifetime::wrapping, .birth = 1, .death = 0}));
}

TEST(ImportStep, WhatOutlivesFromTheFirstOpLivesToTheLast) {
  const Program program =
      import_step_of(recorded_op("B", "", "0") + "," + recorded_op("B", "", ""), block(8, 0, -2));
  EXPECT_EQ(program.block(0), (Block{.bytes = 8, .lifetime = Lifetime::local, .birth = 0, .death = 1}));
}

TEST(ImportStep, WhatTheUpdateBringsForGoodIsPersistent) {
  const Program program =
      import_step_of(recorded_op("F", "", "") + "," + recorded_op("U", "", "0"), block(8, 1, -2));
  EXPECT_EQ(program.block(0).lifetime, Lifetime::persistent);
}

TEST(ImportStep, WhatIsFreedWithoutSuccessorIsPersistent) {
  const Program program = import_step_of(recorded_op("F", "0", ""), block(8, -1, 0));
  EXPECT_EQ(program.block(0).lifetime, Lifetime::persistent);
}

TEST(ImportStep, WorkspaceIsWhatIsLeftOfTheExtraBytes) {
  const std::string ops = R"({"n":"a","us":1,"x":100,"r":[],"w":[0]},{"n":"b","us":1,"x":5,"r":[],"w":[1]})";
  const Program program = import_step_of(ops, block(60, 0, 1) + "," + block(60, 1, 1));
  EXPECT_EQ(program.op(0).workspace, 40);
  EXPECT_EQ(program.op(1).workspace, 0);
}

TEST(ImportStep, RunningStatisticsAreSideEffects) {
  const std::string ops = R"({"n":"aten::cudnn_batch_norm","us":1,"x":0,"r":[0,1],"w":[1,2]},)"
                          R"({"n":"aten::cudnn_batch_norm_backward","us":1,"x":0,"r":[1],"w":[1]})";
  const Program program =
      import_step_of(ops, block(1, -1, -2) + "," + block(1, -1, -2) + "," + block(1, 0, 1));
  EXPECT_EQ(program.op(0).accesses[1],
            (Access{.block = 1, .reads = true, .writes = true, .side_effect = true}));
  EXPECT_EQ(program.op(0).accesses[2], (Access{.block = 2, .writes = true}));
  EXPECT_FALSE(program.op(1).accesses[0].side_effect);
}

TEST(ImportStep, CountsUnmanagedBytesOnRequest) {
  const std::string ops = recorded_op("F", "0", ""), blocks = block(800, -1, -2);
  EXPECT_EQ(import_step_of(ops, blocks).info().unmanaged, 0);
  const Program program = import_step_of(ops, blocks, {.with_unmanaged = true});
  EXPECT_EQ(program.info().unmanaged, 200);
  EXPECT_EQ(program.peak_demand(), 1000);
}

TEST(ImportStep, NamesThePlaceOfBadInput) {
  const std::string fine = block(8, -1, -2);
  EXPECT_INPUT_ERROR(import_step_of("", fine), "f.json", "no \"ops\"");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "0,1", ""), fine), "f.json: ops[0] 'o' uses block 1",
                     "1 blocks");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "-1", ""), fine), "f.json: ops[0]", "\"r\"");
  EXPECT_INPUT_ERROR(
      import_step_of(recorded_op("F", "0", "") + "," + recorded_op("F", "", "0"), block(8, 1, 1)),
      "f.json: ops[0] 'o' uses block 0 before op 1");
  EXPECT_INPUT_ERROR(
      import_step_of(recorded_op("F", "0", "") + "," + recorded_op("B", "", "0"), block(8, 1, -2)),
      "f.json: ops[0] 'o' uses block 0 before op 1");
  EXPECT_INPUT_ERROR(
      import_step_of(recorded_op("F", "", "0") + "," + recorded_op("F", "0", ""), block(8, 0, 0)),
      "f.json: op 1 'o'", "block 0");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "", ""), block(-8, -1, -2)), "f.json: blocks[0]",
                     "\"b\" is -8");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "", ""), block(8, 5, -2)), "f.json: blocks[0]", "op 5");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "", ""), block(8, 0, 5)), "f.json: blocks[0]", "op 5");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "", ""), block(8, -2, 0)), "f.json: blocks[0]",
                     "\"a\" is -2");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "", ""), block(8, 0, -1)), "f.json: blocks[0]",
                     "\"f\" is -1");
  EXPECT_INPUT_ERROR(
      import_step_of(recorded_op("F", "", "") + "," + recorded_op("F", "", ""), block(8, 1, 0)),
      "blocks[0] is freed after op 0");
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("Q", "", ""), fine), "f.json: ops[0]", "\"p\"");
  EXPECT_INPUT_ERROR(import_step_of(R"({"n":"o","us":-1,"x":0})", fine), "f.json: ops[0]", "\"us\"");
  EXPECT_INPUT_ERROR(import_step_of(R"({"n":"o","us":NaN,"x":0})", fine), "f.json: not readable as JSON");
  EXPECT_INPUT_ERROR(import_step_of(R"({"n":"o","us":1,"x":9223372036854775807})", fine), "f.json: ops[0]",
                     "\"x\"");
}

TEST(ImportStep, RefusesSizesWhoseSumOverflows) {
  const std::string huge = R"({"b":1152921504606846976,"a":-1,"f":-2})";
  std::string blocks = huge;
  for (int i = 0; i < 20; ++i) blocks += "," + huge;
  EXPECT_INPUT_ERROR(import_step_of(recorded_op("F", "", ""), blocks), "f.json", "blocks[1]", "2^60");
}

TEST(ImportStep, ReadsTheBundledTraces) {
  for (const auto& [name, ops, demand_missing] :
       {std::tuple{"resnet50", 891, 74.1}, {"gpt2", 1087, 72.9}, {"unet", 403, 3.0}, {"vgg16", 185, 70.6}}) {
    const std::string path = testing::bundled(std::string(name) + ".json.gz");
    const Program program = import_step(read_maybe_gzipped(path), path, {.with_unmanaged = true});
    EXPECT_EQ(program.info().name, name);
    EXPECT_EQ(program.op_count(), ops);
    EXPECT_NEAR(static_cast<double>(program.info().unmanaged) / static_cast<double>(kMiB), demand_missing,
                0.06);
  }
}

TEST(ImportStep, FindsThePeakLoadOfResnet50) {
  const std::string path = testing::bundled("resnet50.json.gz");
  EXPECT_EQ(import_step(read_maybe_gzipped(path), path).peak_load() / kMiB, 21371);
}

TEST(ImportStep, ReadsEverySharedTrace) {
  const std::string folder = testing::shared("traces");
  SKIP_WITHOUT(folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const Program program = import_step(read_maybe_gzipped(path), path, {.with_unmanaged = true});
    EXPECT_LE(program.info().unmanaged, 200 * kMiB) << path;
    EXPECT_GT(program.info().unmanaged, 0) << path;
  }
}

}  // namespace
}  // namespace ebb
