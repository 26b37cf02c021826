// Load over time as a few lines of text.
//
//   20.9 GiB |        ▁▄▆█▆▃
//            |   ▂▄▆███████████▅▂
//      0 GiB |██████████████████████
//             0                117 ms
#pragma once

#include <string>

#include "trace/program.h"

namespace ebb::cli {

// The demand of each op over compute time; a column shows the most in it.
std::string plot_demand(const Program& program, std::size_t columns = 72, std::size_t rows = 8);

}  // namespace ebb::cli
