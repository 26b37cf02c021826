#include "machine/presets.h"

#include "expect_error.h"

namespace ebb {
namespace {

TEST(Presets, EveryMachineIsCompleteAndNamesItsSource) {
  for (const Machine& machine : machine_presets()) {
    EXPECT_GT(machine.bandwidth_out, 0) << machine.name;
    EXPECT_GT(machine.bandwidth_in, 0) << machine.name;
    EXPECT_GT(machine.device_bytes, 0) << machine.name;
    EXPECT_GT(machine.teraflops, 0) << machine.name;
    EXPECT_GT(machine.memory_gb_per_s, 0) << machine.name;
    EXPECT_EQ(machine.compute_scale, 1.0) << machine.name;
    EXPECT_FALSE(machine.source.empty()) << machine.name;
    for (std::int64_t stretch : machine.compute_stretch) EXPECT_GE(stretch, 1'000'000) << machine.name;
  }
}

TEST(Presets, TheH200CarriesWhatWasMeasured) {
  const Machine& h200 = find_preset("h200");
  EXPECT_EQ(h200.bandwidth_in, 55'400'000'000);
  EXPECT_EQ(h200.bandwidth_out, 55'300'000'000);
  EXPECT_EQ(h200.bandwidth_both, 99'000'000'000);
  EXPECT_EQ(h200.compute_stretch, (std::array<std::int64_t, 4>{1'000'000, 1'012'000, 1'023'000, 1'033'000}));
  EXPECT_FALSE(h200.exclusive);
}

TEST(Presets, TheMachinesOfThePapersHaveTheirLinks) {
  EXPECT_TRUE(find_preset("v100-pcie3").exclusive);
  EXPECT_EQ(find_preset("v100-pcie3").bandwidth_in, 12'200'000'000);
  EXPECT_EQ(find_preset("gtx1080ti").latency_out, 47'000);
  EXPECT_EQ(find_preset("gtx1080ti").latency_in, 10'000);
  EXPECT_EQ(find_preset("a100-15.75").bandwidth_out, 16'915'728'695);
  EXPECT_EQ(find_preset("rtx2080ti").device_bytes, 11 * kGiB);
  EXPECT_EQ(find_preset("titanx").device_bytes, 12 * kGiB);
}

TEST(Presets, AnUnknownNameListsTheKnownOnes) {
  EXPECT_INPUT_ERROR(find_preset("h100"), "unknown machine 'h100'", "h200", "v100-pcie3", "a100-15.75");
}

}  // namespace
}  // namespace ebb
