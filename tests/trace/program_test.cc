#include "trace/program.h"

#include <gtest/gtest.h>

#include <limits>

#include "trace/expect_error.h"

namespace ebb {
namespace {

constexpr Access reads(BlockId b) { return {.block = b, .reads = true}; }
constexpr Access writes(BlockId b) { return {.block = b, .writes = true}; }
constexpr Access updates(BlockId b) { return {.block = b, .reads = true, .writes = true}; }
constexpr Block kWeight{.bytes = 100, .lifetime = Lifetime::persistent};

// The picture of program.h: a weight, an activation and a gradient that crosses the boundary.
Program picture() {
  return Program::build({.name = "picture"},
                        {{.name = "0", .accesses = {reads(0)}},
                         {.name = "1", .accesses = {reads(0), writes(1), reads(2)}},
                         {.name = "2", .workspace = 7, .accesses = {reads(0)}},
                         {.name = "3", .accesses = {reads(0), reads(1), writes(2)}},
                         {.name = "4", .accesses = {writes(0), reads(2)}},
                         {.name = "5", .duration = 9}},
                        {kWeight,
                         {.bytes = 10, .lifetime = Lifetime::local, .birth = 1, .death = 3},
                         {.bytes = 1, .lifetime = Lifetime::wrapping, .birth = 3, .death = 1}});
}

TEST(Program, AddsUpLoadAndDemand) {
  const Program program = picture();
  EXPECT_EQ(program.load(), (std::vector<Bytes>{101, 111, 110, 111, 101, 101}));
  EXPECT_EQ(program.demand(2), 117);
  EXPECT_EQ(program.peak_load(), 111);
  EXPECT_EQ(program.peak_demand(), 117);
  EXPECT_EQ(program.peak_op(), 2);
  EXPECT_EQ(program.birth_bytes(3), 1);
  EXPECT_EQ(program.compute_time(), 9);
}

TEST(Program, ListsBirthsInBlockOrderIfNoneAreGiven) {
  EXPECT_EQ(picture().op(3).births, (std::vector<BlockId>{2}));
}

TEST(Program, GivesEachWriteAVersion) {
  const Program program = Program::build({},
                                         {{.name = "make", .accesses = {writes(0)}},
                                          {.name = "change", .accesses = {updates(0)}},
                                          {.name = "use", .accesses = {reads(0)}}},
                                         {{.bytes = 1, .birth = 0, .death = 2}});
  ASSERT_EQ(program.outputs(0).size(), 1u);
  EXPECT_EQ(program.outputs(0)[0].replaces, -1);
  EXPECT_EQ(program.inputs(0).size(), 0u);
  EXPECT_EQ(program.outputs(1)[0].replaces, program.outputs(0)[0].version);
  EXPECT_EQ(program.inputs(1)[0], program.outputs(0)[0].version);
  EXPECT_EQ(program.inputs(2)[0], program.outputs(1)[0].version);
  EXPECT_EQ(program.version(program.inputs(2)[0]).writer, 1);
}

TEST(Program, TakesSideEffectsNeitherAsInputNorAsVersion) {
  Access statistics = updates(0);
  statistics.side_effect = true;
  const Program program = Program::build(
      {}, {{.name = "norm", .accesses = {statistics}}, {.name = "use", .accesses = {reads(0)}}}, {kWeight});
  EXPECT_EQ(program.inputs(0).size(), 0u);
  EXPECT_EQ(program.outputs(0).size(), 0u);
  EXPECT_EQ(program.version(program.inputs(1)[0]).writer, kCarried);
}

TEST(Program, NamesOpAndBlockThatBreakARule) {
  const auto build = [](std::vector<Op> ops, std::vector<Block> blocks) {
    return Program::build({}, std::move(ops), std::move(blocks));
  };
  const Block local{.bytes = 1, .birth = 1, .death = 1};
  const Bytes huge = Bytes{1} << 60;
  EXPECT_INPUT_ERROR(build({}, {}), "at least one op");
  EXPECT_INPUT_ERROR(build({{.name = "a", .accesses = {reads(3)}}}, {kWeight}), "op 0 'a'", "block 3");
  EXPECT_INPUT_ERROR(build({{.name = "a", .accesses = {reads(0), writes(0)}}}, {kWeight}),
                     "op 0 'a' lists block 0 twice");
  EXPECT_INPUT_ERROR(build({{.name = "a", .accesses = {{.block = 0}}}}, {kWeight}), "op 0 'a' neither");
  EXPECT_INPUT_ERROR(build({{.name = "a", .accesses = {reads(0)}}, {.name = "b"}}, {local}),
                     "op 0 'a' reads block 0 outside its life");
  EXPECT_INPUT_ERROR(build({{.name = "a"}}, {local}), "block 0", "1 ops");
  EXPECT_INPUT_ERROR(build({{.name = "a", .duration = -1}}, {}), "duration of op 0", "-1");
  EXPECT_INPUT_ERROR(build({{.name = "a", .workspace = -1}}, {}), "workspace of op 0", "-1");
  EXPECT_INPUT_ERROR(build({{.name = "a"}}, {{.bytes = -5, .lifetime = Lifetime::persistent}}),
                     "size of block 0", "-5");
  EXPECT_INPUT_ERROR(build({{.name = "a"}}, {{.bytes = huge, .lifetime = Lifetime::persistent}, kWeight}),
                     "block 1", "2^60");
  EXPECT_INPUT_ERROR(build({{.name = "a"}, {.name = "b"}}, {{.bytes = 1, .birth = 1, .death = 0}}),
                     "local block 0");
  EXPECT_INPUT_ERROR(build({{.name = "a"}}, {{.bytes = 1, .lifetime = Lifetime::persistent, .birth = 0}}),
                     "persistent block 0");
}

}  // namespace
}  // namespace ebb
