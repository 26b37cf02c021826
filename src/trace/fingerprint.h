// A short name for a program's structure: two iterations with the same fingerprint can follow the same plan.
#pragma once

#include <cstdint>
#include <string>

#include "trace/program.h"

namespace ebb {

// Covers op names, what each op accesses and how, births in order, whether it can be replayed and draws
// random numbers, and every block's size and life. Not times, workspaces and phases: they differ from run to
// run or are labels. The same on every machine; changing it makes all plan files strangers
// (docs/plan-format.md).
std::uint64_t fingerprint(const Program& program);

// Sixteen hexadecimal digits, as plan files have it.
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace ebb
