#include "trace/import_graph.h"

#include <gtest/gtest.h>

#include "trace/expect_error.h"
#include "trace/files.h"
#include "trace/gzip.h"

namespace ebb {
namespace {

Program import(const std::string& ops, const std::string& tensors) {
  return import_graph("{\"ops\":[" + ops + "],\"tensors\":[" + tensors + "]}", "dir/g.json.gz");
}

std::string op(const std::string& in, const std::string& out, const std::string& rest = "") {
  return R"({"name":"o","ns":10,"in":[)" + in + R"(],"out":[)" + out + "]" + rest + "}";
}

std::string tensor(const std::string& rest = "") { return R"({"bytes":8)" + rest + "}"; }

TEST(ImportGraph, TakesNamesTimesAndWorkspace) {
  const Program program = import(R"({"id":0,"name":"conv","ns":10.5,"in":[],"out":[0],"ws":5})", tensor());
  EXPECT_EQ(program.info().name, "g");
  EXPECT_EQ(program.op(0).name, "conv");
  EXPECT_EQ(program.op(0).duration, 11);
  EXPECT_EQ(program.op(0).workspace, 5);
}

TEST(ImportGraph, LifetimesFollowTheFlags) {
  const Program program =
      import(op("0,1", "2,3,4") + "," + op("2,3", "") + "," + op("", "") + "," + op("", ""),
             tensor(R"(,"const":1)") + "," + tensor(R"(,"global":1)") + "," +
                 tensor(R"(,"const":0,"release_after_op":2)") + "," + tensor(R"(,"release_after_op":null)") +
                 "," + tensor(R"(,"end_live":1)"));
  EXPECT_EQ(program.block(0).lifetime, Lifetime::persistent);
  EXPECT_EQ(program.block(1).lifetime, Lifetime::persistent);
  EXPECT_EQ(program.block(2), (Block{.bytes = 8, .lifetime = Lifetime::local, .birth = 0, .death = 2}));
  EXPECT_EQ(program.block(3), (Block{.bytes = 8, .lifetime = Lifetime::local, .birth = 0, .death = 1}));
  EXPECT_EQ(program.block(4), (Block{.bytes = 8, .lifetime = Lifetime::local, .birth = 0, .death = 3}));
}

TEST(ImportGraph, WhatIsNeededAfterTheStepCrossesTheBoundary) {
  const Program program = import(op("", "0") + "," + op("0", "1") + "," + op("", ""),
                                 tensor() + "," + tensor(R"(,"end_live":1)"));
  EXPECT_EQ(program.block(1), (Block{.bytes = 8, .lifetime = Lifetime::wrapping, .birth = 1, .death = 0}));
}

TEST(ImportGraph, WhatIsReadBeforeItIsMadeIsPersistent) {
  const Program program = import(op("0", "") + "," + op("", "0") + "," + op("1", "1"),
                                 tensor() + "," + tensor() + "," + tensor());
  for (BlockId b : {0, 1, 2}) EXPECT_EQ(program.block(b).lifetime, Lifetime::persistent) << b;
}

TEST(ImportGraph, MutatingIsReadingAndWriting) {
  const Program program = import(op("0", "", R"(,"mutates":[0])"), tensor(R"(,"const":1)"));
  EXPECT_EQ(program.op(0).accesses, (std::vector<Access>{{.block = 0, .reads = true, .writes = true}}));
}

TEST(ImportGraph, EmptyTensorsAreAllowed) {
  EXPECT_EQ(import(op("", "0"), R"({"bytes":0})").block(0).bytes, 0);
}

TEST(ImportGraph, NamesThePlaceOfBadInput) {
  EXPECT_INPUT_ERROR(import("", tensor()), "dir/g.json.gz", "no \"ops\"");
  EXPECT_INPUT_ERROR(import(op("", "3"), tensor()), "ops[0] 'o' uses tensor 3", "1 tensors");
  EXPECT_INPUT_ERROR(import(op("", "0") + "," + op("0", ""), tensor(R"(,"release_after_op":0)")), "op 1 'o'",
                     "block 0");
  EXPECT_INPUT_ERROR(import(op("", "0"), tensor(R"(,"release_after_op":7)")), "block 0", "op 7");
  EXPECT_INPUT_ERROR(import(op("", "0"), tensor(R"(,"release_after_op":-3)")), "tensors[0]",
                     "\"release_after_op\"");
  EXPECT_INPUT_ERROR(import(op("", "0"), R"({"bytes":-8})"), "tensors[0]", "\"bytes\" is -8");
  EXPECT_INPUT_ERROR(import(op("", "0"), R"({"bytes":8,"id":4})"), "tensors[0]", "\"id\" is 4");
  EXPECT_INPUT_ERROR(import(R"({"name":"o","ns":-1})", tensor()), "ops[0]", "\"ns\"");
  EXPECT_INPUT_ERROR(import(R"({"name":"o"})", tensor()), "ops[0]", "\"ns\" is missing");
}

TEST(ImportGraph, ReadsEverySharedGraph) {
  const std::string folder = testing::shared("graphs");
  SKIP_WITHOUT(folder);
  for (const auto& [name, ops, peak] : {std::tuple{"dtr-lstm", 7926, 5335},
                                        {"dtr-resnet32", 286, 9595},
                                        {"dtr-transformer", 2821, 9407},
                                        {"g10-BERT_Base_256", 1369, 48906},
                                        {"g10-VIT_1280", 1489, 58772}}) {
    const std::string path = folder + "/" + name + ".json.gz";
    const Program program = import_graph(read_maybe_gzipped(path), path);
    EXPECT_EQ(program.op_count(), ops);
    EXPECT_EQ(program.peak_demand() / kMiB, peak);
  }
}

}  // namespace
}  // namespace ebb
