// The machines Ebb knows by name, each with the source of its numbers.
#pragma once

#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace ebb {

// compute_scale is 1 in all of them: op times are taken as recorded until scale_to or match_step_time
// (scale.h) says how much slower the machine is, because that depends on the workload and not on the machine
// alone.
const std::vector<Machine>& machine_presets();

// Throws InputError listing the known names.
const Machine& find_preset(std::string_view name);

}  // namespace ebb
