#include "planners/chain/chain_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "literal_programs.h"
#include "machine/presets.h"
#include "planners/chain/chain_cuts.h"
#include "random_programs.h"
#include "trace/load.h"

namespace ebb {
namespace {

Op in_phase(Op op, Phase phase) {
  op.phase = phase;
  return op;
}
Op forward(std::vector<Access> accesses) { return in_phase(op(std::move(accesses), 10), Phase::forward); }
Op backward(std::vector<Access> accesses) { return in_phase(op(std::move(accesses), 20), Phase::backward); }

// weights 0-2; x_1, x_2, x_3 are blocks 3-5; their gradients 6-8
Program three_layer_program() {
  return literal_program(
      {forward({reads(0), writes(3)}), forward({reads(3), reads(1), writes(4)}),
       forward({reads(4), reads(2), writes(5)}), backward({reads(5), writes(6)}),
       backward({reads(6), reads(4), reads(2), writes(7)}),
       backward({reads(7), reads(3), reads(1), writes(8)}), backward({reads(8), reads(0)})},
      {persistent(1), persistent(1), persistent(1), local(30, 0, 5), local(40, 1, 4), local(5, 2, 3),
       local(5, 3, 4), local(40, 4, 5), local(30, 5, 6)});
}

ChainView view_of(const Program& program) {
  return view_as_chain(program, Gaps(program), {.bandwidth_out = 2000, .bandwidth_in = 1000});
}

TEST(ChainView, ALinearStepIsCutAtEveryActivation) {
  const ChainView view = view_of(three_layer_program());
  ASSERT_EQ(view.parts.size(), 3u);
  EXPECT_EQ(view.chain.bandwidth, 1000);
  EXPECT_EQ(view.base, 3);
  for (OpIndex i = 0; i < 3; ++i)
    EXPECT_EQ(view.parts[static_cast<std::size_t>(i)].forward, (OpRange{i, i + 1}));
  EXPECT_EQ(view.parts[2].backward, (OpRange{3, 5}));
  EXPECT_EQ(view.parts[1].backward, (OpRange{5, 6}));
  EXPECT_EQ(view.parts[0].backward, (OpRange{6, 7}));
  EXPECT_EQ(view.chain.x(0), 0);
  EXPECT_EQ(view.chain.x(1), 30);
  EXPECT_EQ(view.chain.x(2), 40);
  EXPECT_EQ(view.chain.x(3), 0);  // read at once: it has no gap
  EXPECT_EQ(view.chain.y(2), 40);
  EXPECT_EQ(view.chain.y(1), 30);
  EXPECT_EQ(view.chain.layers[2].backward, 40);
}

// Block 1 is read at 1 and added at 3: the branch between is one layer.
TEST(ChainView, ABranchBecomesOneLayer) {
  const Program program = literal_program(
      {forward({writes(0)}), forward({reads(0), writes(1)}), forward({reads(1), writes(2)}),
       forward({reads(2), reads(1), writes(3)}), forward({reads(3), writes(4)}), backward({reads(4)}),
       backward({reads(3)}), backward({reads(2), reads(1)}), backward({reads(0)})},
      {local(8, 0, 8), local(8, 1, 7), local(8, 2, 7), local(8, 3, 6), local(8, 4, 5)});
  const ChainView view = view_of(program);
  ASSERT_EQ(view.parts.size(), 4u);
  EXPECT_EQ(view.parts[2].forward, (OpRange{2, 4}));
  EXPECT_EQ(view.chain.x(2), 8);      // block 1
  EXPECT_EQ(view.chain.x(3), 8 + 8);  // blocks 2 and 3: made by the branch
}

// An outer skip over twelve ops: cut as if it were not there, it belongs to its reader.
TEST(ChainView, ALongSkipBelongsToItsLastReader) {
  std::vector<Op> ops = {forward({writes(0)}), forward({reads(0), writes(1)})};
  std::vector<Block> blocks = {local(8, 0, 25), local(8, 1, 24)};
  for (BlockId b = 2; b < 12; ++b) {
    ops.push_back(forward({reads(b - 1), writes(b)}));
    blocks.push_back(local(8, b, 25 - b));
  }
  ops.push_back(forward({reads(11), reads(0), writes(12)}));
  blocks.push_back(local(8, 12, 13));
  for (BlockId b = 12; b >= 0; --b) ops.push_back(backward({reads(b)}));
  const Program program = literal_program(ops, blocks);
  const ChainView view = view_of(program);
  EXPECT_EQ(view.skips, std::vector<BlockId>{0});
  EXPECT_EQ(view.parts.size(), 13u);
  const Gaps gaps(program);
  const std::vector<GapId>& last = view.parts[12].gaps;
  EXPECT_NE(std::find_if(last.begin(), last.end(), [&](GapId g) { return gaps[g].block == 0; }), last.end());
}

TEST(ChainView, BackwardOpsFindTheirForwardOpsByWhatTheyRead) {
  EXPECT_EQ(backward_twins(three_layer_program(), 3), (std::vector<OpIndex>{2, 2, 1, 0}));
}

void expect_consistent(const Program& program, const Machine& machine) {
  const Gaps gaps(program);
  const ChainView view = view_as_chain(program, gaps, machine);
  EXPECT_EQ(view.chain.peak() + view.base, program.peak_demand());
  Nanoseconds compute = 0;
  for (const Op& op : program.ops()) compute += machine.op_time(op);
  EXPECT_EQ(view.chain.compute_time(), compute);
  OpIndex forward = 0;
  OpIndex backward = program.op_count();
  std::set<GapId> seen;
  for (std::size_t i = 0; i < view.parts.size(); ++i) {
    const ChainPart& part = view.parts[i];
    EXPECT_EQ(part.forward.begin, forward);
    EXPECT_EQ(part.backward.end, backward);
    forward = part.forward.end;
    backward = part.backward.begin;
    Bytes bytes = 0;
    for (const GapId g : part.gaps) {
      EXPECT_TRUE(seen.insert(g).second);
      bytes += program.block(gaps[g].block).bytes;
    }
    EXPECT_EQ(bytes, view.chain.x(i));
  }
  EXPECT_EQ(forward, backward);
}

TEST(ChainView, CoversEveryOpOnceAndHasTheStepsPeak) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Program program = random_program(random);
    expect_consistent(program, random_machine(random));
  }
}

// Many layers, none of which holds most of the activations, with backward times beside forward ones.
void expect_useful(const Program& program) {
  const ChainView view = view_as_chain(program, Gaps(program), find_preset("h200"));
  Bytes total = view.chain.output;
  Bytes largest = 0;
  for (std::size_t i = 0; i < view.chain.size(); ++i) {
    total += view.chain.x(i);
    largest = std::max(largest, view.chain.x(i));
  }
  EXPECT_GE(view.chain.size(), 15u);
  EXPECT_LT(largest, total / 3);
  std::size_t with_backward = 0;
  for (const ChainPart& part : view.parts) with_backward += part.backward.begin < part.backward.end ? 1 : 0;
  EXPECT_GE(with_backward, view.chain.size() * 3 / 4);
}

TEST(ChainView, RecordedStepsBecomeChainsOfManyLayers) {
  for (const char* trace : {"resnet50", "gpt2", "unet", "vgg16"}) {
    SCOPED_TRACE(trace);
    const Program program = load_program(std::string(EBB_SOURCE_DIR "/data/") + trace + ".json.gz");
    expect_consistent(program, find_preset("h200"));
    expect_useful(program);
  }
}

TEST(ChainView, SoDoTheSharedSteps) {
  const std::filesystem::path folder = EBB_SOURCE_DIR "/../shared/data/traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  for (const char* trace : {"densenet121", "lstm", "mobilenet_v2", "papers/off-inception-299-b32"}) {
    SCOPED_TRACE(trace);
    const Program program = load_program((folder / trace).string() + ".json.gz");
    expect_consistent(program, find_preset("h200"));
    expect_useful(program);
  }
}

}  // namespace
}  // namespace ebb
