#include <gtest/gtest.h>

#include <set>

#include "planners/planner.h"
#include "trace/error.h"

namespace ebb {
namespace {

TEST(Registry, NamesAreUniqueAndEveryPlannerSaysWhatItIs) {
  std::set<std::string_view> names;
  for (const Planner& planner : planners()) {
    EXPECT_TRUE(names.insert(planner.name).second) << planner.name;
    EXPECT_FALSE(planner.summary.empty()) << planner.name;
    EXPECT_FALSE(planner.source.empty()) << planner.name;
    EXPECT_EQ(&find_planner(planner.name), &planner);
  }
}

TEST(Registry, AnUnknownNameListsTheKnownOnes) {
  try {
    find_planner("magic");
    FAIL() << "found a planner that does not exist";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'magic'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("ondemand"), std::string::npos);
  }
}

}  // namespace
}  // namespace ebb
