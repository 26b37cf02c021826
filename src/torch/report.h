// What a Device does, as something to look at. Knows no PyTorch.
#pragma once

#include <string>

#include "runtime/device.h"

namespace ebb::torch_adapter {

// The page about the iteration that was found, its plan and how it went. Without a known iteration it is
// looked for in what was recorded. Throws InputError if there is none, or if the page was not built.
std::string report_page(const Device& device, Bytes limit);

// {"plan": …, "measured": …} as `ebb report --measured` reads it; {} if no plan was followed yet.
std::string report_parts(const Device& device, Bytes limit);

// Memory over time by the plan, under the same step without a limit: two lines of bars, or nothing.
struct Sparklines {
  std::string before;
  std::string after;
};
Sparklines sparklines(const Device& device, std::size_t columns);

}  // namespace ebb::torch_adapter
