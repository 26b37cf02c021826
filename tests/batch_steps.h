// One small step at any batch size, as two recordings would have it.
//
//   op       0 make  1 loss  2 back
//   0 weight R.......R.......R....:   100 bytes
//   1 map    W...............R        20 bytes per sample
//   2 loss           W                10 bytes per sample
#pragma once

#include "trace/program.h"

namespace ebb {

// Each op takes 10 ns and 1 per sample. Peak: 100 + 30 per sample; with the map away at op 1: 100 + 20.
inline Program step_of(std::int64_t batch, std::string last = "back") {
  const auto op = [&](std::string name, Phase phase, std::vector<Access> accesses) {
    return Op{
        .name = std::move(name), .phase = phase, .duration = 10 + batch, .accesses = std::move(accesses)};
  };
  const Access weight{.block = 0, .reads = true};
  return Program::build({.name = "step", .smallest_managed = 1},
                        {op("make", Phase::forward, {weight, {.block = 1, .writes = true}}),
                         op("loss", Phase::forward, {weight, {.block = 2, .writes = true}}),
                         op(std::move(last), Phase::backward, {weight, {.block = 1, .reads = true}})},
                        {{100, Lifetime::persistent, kNoOp, kNoOp},
                         {20 * batch, Lifetime::local, 0, 2},
                         {10 * batch, Lifetime::local, 1, 1}});
}

}  // namespace ebb
