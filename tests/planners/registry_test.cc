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

TEST(Registry, ASettingHasItsDefaultUntilItIsGiven) {
  const Setting particles{"particles", 50, ""};
  EXPECT_EQ(value_of(particles, {}), 50);
  EXPECT_EQ(value_of(particles, {.settings = {{"particles", 500}}}), 500);
}

TEST(Registry, ASettingThatThePlannerDoesNotHaveIsRefusedByName) {
  static constexpr Setting kSettings[] = {{"particles", 50, ""}};
  Planner planner = find_planner("keep");
  EXPECT_THROW(check_settings(planner, {.settings = {{"particles", 1}}}), InputError);
  planner.settings = kSettings;
  EXPECT_NO_THROW(check_settings(planner, {.settings = {{"particles", 1}}}));
  EXPECT_THROW(check_settings(planner, {.settings = {{"particle", 1}}}), InputError);
}

}  // namespace
}  // namespace ebb
