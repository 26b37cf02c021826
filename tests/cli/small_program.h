// A step small enough to know by heart.
//
//   op        0 make  1 use   2 other  3 back       64 MiB blocks, 1 ms per op
//   block 0   R.......R........R.......R....:       weight, persistent
//   block 1   W.......R................R            gap between op 1 and op 3
//   block 2                    W                    dies at once
#pragma once

#include "plan/gaps.h"
#include "trace/program.h"

namespace ebb::cli {

inline Program small_program() {
  const auto reads = [](BlockId b) { return Access{.block = b, .reads = true}; };
  const auto writes = [](BlockId b) { return Access{.block = b, .writes = true}; };
  const auto op = [](std::string name, Phase phase, std::vector<Access> accesses) {
    Op result;
    result.name = std::move(name);
    result.phase = phase;
    result.duration = 1'000'000;
    result.accesses = std::move(accesses);
    return result;
  };
  ProgramInfo info;
  info.name = "small";
  const Bytes bytes = 64 * kMiB;
  return Program::build(
      info,
      {op("make", Phase::forward, {reads(0), writes(1)}), op("use", Phase::forward, {reads(0), reads(1)}),
       op("other", Phase::backward, {reads(0), writes(2)}),
       op("back", Phase::backward, {reads(0), reads(1)})},
      {{.bytes = bytes, .lifetime = Lifetime::persistent},
       {.bytes = bytes, .lifetime = Lifetime::local, .birth = 0, .death = 3},
       {.bytes = bytes, .lifetime = Lifetime::local, .birth = 2, .death = 2}});
}

}  // namespace ebb::cli
