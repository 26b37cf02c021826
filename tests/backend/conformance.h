// What every backend must do, written once. No gtest here: gpu_check.cc runs the same checks on a machine
// that has none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace ebb::conformance {

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

struct Check {
  const char* name;
  // Makes the backends it needs; returns what is wrong, or "".
  std::string (*run)(const MakeBackend& make);
};

const std::vector<Check>& all_checks();

// Random copies over all engines, ordered by as few waits as their memory needs, against the same copies done
// one by one.
std::string random_copies_match_a_serial_run(const MakeBackend& make, std::uint64_t seed, int copies);

}  // namespace ebb::conformance
