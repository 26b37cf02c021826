// A layout as the simulator sees it: which copies to the host must have ended before memory is taken. The out
// queue keeps its order, so that one number per taker says it all. layout/by_position.h makes them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace ebb {

inline constexpr std::int32_t kNoGate = std::numeric_limits<std::int32_t>::min() / 4;

// How many copy-outs of this iteration's queue must have ended; negative: of the iteration before.
struct AddressGates {
  std::vector<std::int32_t> items;  // by item: replay steps and ops in the order they run
  std::vector<std::int32_t> ins;    // by index in LoweredPlan::ins, relative to the iteration it is listed in
  bool operator==(const AddressGates&) const = default;
};

}  // namespace ebb
