// The memory limit a user gives, and the one no plan can go below.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/program.h"

namespace ebb::cli {

// "8GiB", or "50%" of the program's peak demand, rounded down. Throws InputError quoting the text.
Bytes parse_limit(std::string_view text, const Program& program);

// "10.48 GiB, 50.0 % of the peak".
std::string describe_limit(Bytes limit, const Program& program);

// If one op alone needs more: a sentence with the op, its bytes and the smallest limit.
std::optional<std::string> why_out_of_reach(Bytes limit, const Program& program);

}  // namespace ebb::cli
