// Words for the enumerations of a step.
#pragma once

#include <string_view>

#include "plan/gaps.h"

namespace ebb::report {

std::string_view name_of(Phase phase);
std::string_view name_of(Lifetime lifetime);
std::string_view name_of(GapKind kind);

}  // namespace ebb::report
