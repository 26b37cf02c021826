// Memory over time in one line of a terminal: "▁▂▄▆█▆▄▂".
#pragma once

#include <string>
#include <vector>

#include "simulate/timeline.h"
#include "trace/program.h"

namespace ebb::report {

// The most there is in each of so many equal stretches of time.
std::vector<Bytes> demand_by_column(const Program& program, std::size_t columns);
std::vector<Bytes> load_by_column(const Timeline& timeline, Nanoseconds step_time, std::size_t columns);

// A full bar is `top` bytes; nothing is shown only where there is nothing.
std::string sparkline(const std::vector<Bytes>& values, Bytes top);

}  // namespace ebb::report
