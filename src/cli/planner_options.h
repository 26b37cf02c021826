// How long and with what a planner may search.
#pragma once

#include <CLI/CLI.hpp>

#include "planners/planner.h"

namespace ebb::cli {

// --seed, --deadline, --evaluations, --threads, --tune, --no-swap, --no-recompute.
void add_planner_options(CLI::App& command, PlannerOptions& options);

}  // namespace ebb::cli
