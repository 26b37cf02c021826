// The inputs that come with the project. Skipped, visibly, where they are not there.
#include <gtest/gtest.h>

#include <filesystem>

#include "layout/csv.h"
#include "layout/heuristics.h"
#include "layout/online.h"
#include "layout/packing.h"
#include "layout/residencies.h"
#include "layout/validate.h"
#include "trace/load.h"

namespace ebb::layout {
namespace {

const std::filesystem::path kData =
    std::filesystem::path(EBB_SOURCE_DIR) / ".." / "shared" / "data" / "packing";

struct SharedInputs : testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(kData)) GTEST_SKIP() << "no packing data at " << kData;
  }

  static Layout valid_pack(const Problem& problem, const PackOptions& options) {
    const Layout layout = pack(problem, options);
    EXPECT_TRUE(layout.fits);
    for (const Violation& violation : validate(problem, layout, options)) ADD_FAILURE() << violation.message;
    return layout;
  }
};

TEST_F(SharedInputs, ChallengingInstancesFitTheirCapacity) {
  for (const std::string name : {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"}) {
    SCOPED_TRACE(name);
    const Problem problem = read_csv(kData / ("challenging-" + name + ".1048576.csv")).problem;
    EXPECT_LE(valid_pack(problem, {.alignment = 1, .capacity = 1048576}).footprint, 1048576);
  }
}

TEST_F(SharedInputs, ChallengingInstancesArePackedToTheirLoad) {
  for (const std::string name : {"A", "B", "C", "E", "F", "G", "H", "I", "K"}) {
    SCOPED_TRACE(name);
    const Problem problem = read_csv(kData / ("challenging-" + name + ".1048576.csv")).problem;
    const Layout layout = valid_pack(problem, {.alignment = 1});
    EXPECT_EQ(layout.footprint, layout.load);
    EXPECT_TRUE(layout.proved);
  }
}

TEST_F(SharedInputs, TrainingStepsArePackedToTheirLoad) {
  for (const std::string name : {"resnet50-train.csv", "transformer-816.csv", "pangu-2.6b-train.csv.gz"}) {
    SCOPED_TRACE(name);
    const Problem problem = read_csv(kData / name).problem;
    const Layout layout = valid_pack(problem, {});
    EXPECT_EQ(layout.footprint, layout.load);
    EXPECT_TRUE(layout.proved);
    EXPECT_LE(layout.footprint, pack_smartpool(problem).footprint);
    EXPECT_LE(layout.footprint, cnmem_footprint(problem));
    EXPECT_LE(layout.footprint,
              caching_allocator_footprint(problem, CachingAllocator::Segments::kExpandable));
  }
}

TEST_F(SharedInputs, RecordedStepsArePackedToTheirLoad) {
  const std::filesystem::path traces = kData.parent_path() / "traces";
  for (const std::string name :
       {"mobilenet_v2", "papers/off-resnet50-224-b32", "papers/sp-vgg11-cifar-b100"}) {
    SCOPED_TRACE(name);
    const Problem problem = arena_problem(load_program((traces / (name + ".json.gz")).string())).problem;
    const Layout layout = valid_pack(problem, {.budget = 500'000});
    EXPECT_EQ(layout.footprint, layout.load);
    EXPECT_TRUE(layout.proved);
  }
}

}  // namespace
}  // namespace ebb::layout
