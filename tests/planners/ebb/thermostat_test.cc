#include "planners/ebb/thermostat.h"

#include <gtest/gtest.h>

#include <random>

namespace ebb {
namespace {

constexpr int kPlans = 20'000;

// Plans that are worse by up to `scale`, with so much of the budget left: which share is accepted?
double share_accepted(double first_temperature, double scale, double left) {
  Thermostat thermostat(first_temperature);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  int accepted = 0;
  for (int i = 0; i < 2 * kPlans; ++i)
    if (const bool yes = thermostat.accepts(scale * uniform(random), left, uniform(random));
        yes && i >= kPlans)
      ++accepted;
  return static_cast<double>(accepted) / kPlans;
}

TEST(Thermostat, AcceptsTheWantedShareWhateverAChangeCosts) {
  for (const double scale : {1.0, 1e3, 1e6, 1e9})
    for (const double left : {1.0, 0.5})
      EXPECT_NEAR(share_accepted(1e5, scale, left), Thermostat::wanted(left), Thermostat::wanted(left) / 2)
          << scale << " " << left;
}

TEST(Thermostat, WantsHardlyAnyAtTheEnd) {
  EXPECT_LT(Thermostat::wanted(0), Thermostat::wanted(1) / 100);
  EXPECT_LT(share_accepted(1e5, 1e3, 0), share_accepted(1e5, 1e3, 1) / 10);
}

}  // namespace
}  // namespace ebb
