#include "runtime/pager.h"

#include <gtest/gtest.h>

#include "backend/null/null_backend.h"
#include "backend/recording/recording_backend.h"

namespace ebb {
namespace {

constexpr Bytes k4 = 4 * kKiB;

class PagerTest : public ::testing::Test {
 protected:
  PagedBlock& placed(Bytes bytes) {
    PagedBlock& block = table.create(bytes);
    EXPECT_TRUE(pager.place(block));
    return block;
  }
  // What was enqueued since the last time; questions are left out.
  std::vector<std::string> calls() {
    std::vector<std::string> lines;
    for (const BackendCall& call : backend.calls())
      if (call.function != BackendCall::Function::happened && call.function != BackendCall::Function::elapsed)
        lines.push_back(describe(call));
    backend.forget_calls();
    return lines;
  }
  RecordingBackend backend{std::make_unique<NullBackend>()};
  BlockTable table;
  RecipeBook recipes{table, {}};
  DeviceStatistics statistics;
  Pager pager{backend,
              {.limit = 2 * k4, .host = {.slab_bytes = 4 * k4}, .smallest_managed = 512},
              recipes,
              statistics};
};

TEST_F(PagerTest, OrdersACopyOutAfterComputeAndTheNextOwnerAfterTheCopy) {
  PagedBlock& a = placed(2 * k4);
  calls();
  placed(k4);
  EXPECT_EQ(calls(),
            (std::vector<std::string>{"host_slab 16384", "record compute event 1",
                                      "wait out for compute event 1", "record out event 2", "copy out 8192",
                                      "record out event 3", "wait compute for out event 3"}));
  EXPECT_EQ(a.at.place, Residence::Place::host);
}

TEST_F(PagerTest, OrdersAReturnAfterTheMemoryAndTheHostCopyAndComputeAfterTheReturn) {
  PagedBlock& a = placed(2 * k4);
  PagedBlock& b = placed(k4);
  pager.release(b);
  calls();
  ASSERT_TRUE(pager.bring_in(a));
  const std::vector<std::string> issued = calls();
  EXPECT_EQ(issued.back(), "record in event 6");
  EXPECT_EQ(issued[issued.size() - 2], "copy in 8192");
  EXPECT_TRUE(std::find(issued.begin(), issued.end(), "wait in for out event 3") != issued.end());
  BlockHold pin(a, &PagedBlock::pins);
  pager.begin_use(a, false);
  EXPECT_EQ(calls(), (std::vector<std::string>{"wait compute for in event 6"}));
  pager.begin_use(a, false);
  EXPECT_TRUE(calls().empty()) << "once is enough";
}

TEST_F(PagerTest, RecordsNoEventForAFreeWhileNobodyCanReturn) {
  PagedBlock& a = placed(k4);
  pager.compute_advanced();
  pager.release(a);
  EXPECT_EQ(calls(), (std::vector<std::string>{"reserve 8192"}));
  PagedBlock& b = placed(2 * k4);
  PagedBlock& c = placed(k4);
  calls();
  pager.compute_advanced();
  pager.release(c);
  EXPECT_EQ(calls().size(), 1u) << "b may want the place, and should not wait for what comes later";
  ASSERT_TRUE(pager.bring_in(b));
}

TEST_F(PagerTest, RecordsTheEventOfAnEarlierFreeWhenACopyNeedsIt) {
  PagedBlock& a = placed(k4);
  PagedBlock& b = placed(k4);
  pager.compute_advanced();
  pager.release(a);
  ASSERT_TRUE(pager.send_out(b));
  pager.compute_advanced();
  calls();
  ASSERT_TRUE(pager.bring_in_at(b, 0));
  const std::vector<std::string> issued = calls();
  ASSERT_FALSE(issued.empty());
  EXPECT_EQ(issued[0].substr(0, 20), "wait in for compute ") << issued[0];
}

TEST_F(PagerTest, MakesAWriterWaitForACopyOutOfTheSameBytes) {
  PagedBlock& a = placed(k4);
  ASSERT_TRUE(pager.start_copy_out(a));
  EXPECT_TRUE(a.clean());
  calls();
  BlockHold pin(a, &PagedBlock::pins);
  pager.begin_use(a, false);
  EXPECT_TRUE(calls().empty()) << "a reader need not wait";
  pager.begin_use(a, true);
  EXPECT_EQ(calls(), (std::vector<std::string>{"wait compute for out event 3"}));
  pager.content_changed(a);
  EXPECT_FALSE(a.clean());
}

TEST_F(PagerTest, EvictsNothingThatIsPinned) {
  PagedBlock& a = placed(k4);
  PagedBlock& b = placed(k4);
  BlockHold pin_a(a, &PagedBlock::pins), pin_b(b, &PagedBlock::pins);
  EXPECT_FALSE(pager.place(table.create(512)));
  EXPECT_FALSE(pager.make_hole(512));
  EXPECT_NE(pager.describe().find("8192 of them pinned in 2 blocks"), std::string::npos);
}

TEST_F(PagerTest, MovesOperandsTogetherWhenTheyStandInTheWay) {
  PagedBlock& a = placed(1024);
  PagedBlock& operand = placed(1024);
  PagedBlock& rest = placed(6 * 1024);
  std::fill_n(pager.data(operand), 1024, std::byte{42});
  pager.compute_advanced();
  pager.release(a);
  BlockHold pin(operand, &PagedBlock::pins);
  EXPECT_FALSE(pager.make_hole(7 * 1024));
  PagedBlock* operands[] = {&operand};
  pager.compact(operands);
  EXPECT_TRUE(rest.at.place == Residence::Place::host);
  EXPECT_EQ(operand.at.region.offset, 0);
  EXPECT_EQ(pager.data(operand)[1023], std::byte{42});
  EXPECT_TRUE(pager.make_hole(7 * 1024));
}

TEST_F(PagerTest, RestoresACleanBlock) {
  PagedBlock& a = placed(k4);
  std::fill_n(pager.data(a), k4, std::byte{1});
  ASSERT_TRUE(pager.start_copy_out(a));
  std::fill_n(pager.data(a), k4, std::byte{2});
  pager.restore(a);
  EXPECT_EQ(pager.data(a)[k4 - 1], std::byte{1});
}

}  // namespace
}  // namespace ebb
