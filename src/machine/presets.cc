#include "machine/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/error.h"

namespace ebb {
namespace {

constexpr Bytes kMB = 1'000'000;
constexpr Nanoseconds kMicrosecond = 1'000;

Machine h200() {
  return {
      .name = "h200",
      .source =
          "measured: links alone and together, latency of a copy that waits for an op and is waited for (2-3 "
          "us if only "
          "queued), compute beside copies (resnet50, batch 256), device memory; data sheet: TF32 dense rate, "
          "memory "
          "bandwidth",
      .teraflops = 494.7,
      .memory_gb_per_s = 4800,
      .bandwidth_out = 55'300 * kMB,
      .bandwidth_in = 55'400 * kMB,
      .bandwidth_both = 99'000 * kMB,
      .latency_out = 9 * kMicrosecond,
      .latency_in = 11 * kMicrosecond,
      .compute_stretch = {1'000'000, 1'012'000, 1'023'000, 1'033'000},
      .device_bytes = 150'109'880'320,
  };
}

Machine v100_pcie3() {
  return {
      .name = "v100-pcie3",
      .source =
          "[OFF] section 6: 12.2 GB/s and 15.75 GB measured, one transfer at a time by assumption B, no "
          "latency; "
          "data sheet: fp32 rate, memory bandwidth",
      .teraflops = 14.0,
      .memory_gb_per_s = 900,
      .bandwidth_out = 12'200 * kMB,
      .bandwidth_in = 12'200 * kMB,
      .exclusive = true,
      .device_bytes = 16'128 * kMiB,
  };
}

Machine gtx1080ti() {
  return {
      .name = "gtx1080ti",
      .source =
          "[SP] section VI: 11 GB, host 64 GB, PCIe 3 x16; link: AutoSwap's public code, 0.0756 ns/B + 47 us "
          "out, "
          "0.0823 ns/B + 10 us in; data sheet: fp32 rate, memory bandwidth",
      .teraflops = 11.3,
      .memory_gb_per_s = 484,
      .bandwidth_out = 13'228 * kMB,
      .bandwidth_in = 12'151 * kMB,
      .latency_out = 47 * kMicrosecond,
      .latency_in = 10 * kMicrosecond,
      .device_bytes = 11 * kGiB,
      .host_bytes = 64 * kGiB,
  };
}

Machine rtx2080ti() {
  return {
      .name = "rtx2080ti",
      .source =
          "[HOME] section 4.1: 11 GB, host 128 GB, PCIe 3.0 x16; link: not printed there, taken from [OFF]'s "
          "measurement "
          "on the same bus, both directions at once; data sheet: fp32 rate, memory bandwidth",
      .teraflops = 13.4,
      .memory_gb_per_s = 616,
      .bandwidth_out = 12'200 * kMB,
      .bandwidth_in = 12'200 * kMB,
      .device_bytes = 11 * kGiB,
      .host_bytes = 128 * kGiB,
  };
}

Machine titanx() {
  return {
      .name = "titanx",
      .source =
          "[SUB] section 5: Titan X, no copies in the paper; link: PCIe 3 x16 as [OFF] measured it; data "
          "sheet "
          "(Maxwell): 12 GB, fp32 rate, memory bandwidth",
      .teraflops = 6.6,
      .memory_gb_per_s = 336.5,
      .bandwidth_out = 12'200 * kMB,
      .bandwidth_in = 12'200 * kMB,
      .device_bytes = 12 * kGiB,
  };
}

Machine a100() {
  return {
      .name = "a100-15.75",
      .source =
          "G10's configuration: 15.754 GiB/s each way, 40 GiB; data sheet: TF32 dense rate, memory bandwidth",
      .teraflops = 156,
      .memory_gb_per_s = 1555,
      .bandwidth_out = 16'915'728'695,
      .bandwidth_in = 16'915'728'695,
      .device_bytes = 40 * kGiB,
  };
}

}  // namespace

const std::vector<Machine>& machine_presets() {
  static const std::vector<Machine> presets = {h200(),      v100_pcie3(), gtx1080ti(),
                                               rtx2080ti(), titanx(),     a100()};
  return presets;
}

const Machine& find_preset(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Machine& machine : machine_presets()) {
    if (machine.name == name) return machine;
    known.push_back(machine.name);
  }
  throw InputError(fmt::format("unknown machine '{}': known are {}", name, fmt::join(known, ", ")));
}

}  // namespace ebb
