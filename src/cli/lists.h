// Lists on the command line, separated by commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planners/planner.h"

namespace ebb::cli {

// Throws InputError naming the option if an entry is empty.
std::vector<std::string> split(const std::string& list, std::string_view option);

// Names of planners, or "all". Throws InputError if there is none of a name.
std::vector<const Planner*> choose_planners(const std::string& list);

}  // namespace ebb::cli
