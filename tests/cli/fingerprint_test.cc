#include "trace/fingerprint.h"

#include <gtest/gtest.h>

#include "cli/small_program.h"

namespace ebb::cli {
namespace {

std::uint64_t changed(void (*change)(std::vector<Op>&, std::vector<Block>&)) {
  const Program program = small_program();
  std::vector<Op> ops = program.ops();
  std::vector<Block> blocks = program.blocks();
  change(ops, blocks);
  return fingerprint(Program::build(program.info(), ops, blocks));
}

using Ops = std::vector<Op>;
using Blocks = std::vector<Block>;

TEST(Fingerprint, IsTheSameForTheSameStructure) {
  EXPECT_EQ(fingerprint(small_program()), fingerprint(small_program()));
}

TEST(Fingerprint, IsTheSameOnEveryMachineAndInEveryVersion) {
  EXPECT_EQ(fingerprint_text(fingerprint(small_program())), "f7753de7d925f300");
}

TEST(Fingerprint, DoesNotSeeTimesWorkspacesAndPhases) {
  EXPECT_EQ(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].duration += 5; }));
  EXPECT_EQ(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].issue = 7; }));
  EXPECT_EQ(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].workspace = 7; }));
  EXPECT_EQ(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].phase = Phase::update; }));
}

TEST(Fingerprint, SeesNamesAccessesSizesLivesAndFlags) {
  EXPECT_NE(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].name = "uze"; }));
  EXPECT_NE(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].replayable = false; }));
  EXPECT_NE(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].random = true; }));
  EXPECT_NE(fingerprint(small_program()),
            changed([](Ops& ops, Blocks&) { ops[1].accesses[1].writes = true; }));
  EXPECT_NE(fingerprint(small_program()), changed([](Ops& ops, Blocks&) { ops[1].accesses.pop_back(); }));
  EXPECT_NE(fingerprint(small_program()), changed([](Ops&, Blocks& blocks) { blocks[2].bytes += 1; }));
  EXPECT_NE(fingerprint(small_program()), changed([](Ops&, Blocks& blocks) { blocks[2].death = 3; }));
}

TEST(Fingerprint, SeesWhereOneNameEndsAndTheNextBegins) {
  EXPECT_NE(changed([](Ops& ops, Blocks&) { ops[0].name = "ab", ops[1].name = "c"; }),
            changed([](Ops& ops, Blocks&) { ops[0].name = "a", ops[1].name = "bc"; }));
}

}  // namespace
}  // namespace ebb::cli
