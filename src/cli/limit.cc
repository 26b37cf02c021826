#include "cli/limit.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/table.h"
#include "machine/units.h"
#include "plan/smallest_limit.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

constexpr double kMostPercent = 1e6;

}  // namespace

Bytes parse_limit(std::string_view text, const Program& program) {
  const bool relative = text.ends_with('%');
  try {
    if (!relative) {
      const Bytes bytes = parse_bytes(text);
      if (bytes == 0) throw InputError("it must be above 0");
      return bytes;
    }
    const double number = parse_number(text.substr(0, text.size() - 1));
    if (number <= 0 || number > kMostPercent) throw InputError("a share above 0 % is expected");
    return static_cast<Bytes>(std::floor(static_cast<double>(program.peak_demand()) * number / 100));
  } catch (const InputError& error) {
    throw InputError(fmt::format("limit '{}': {}", text, error.what()));
  }
}

std::string describe_limit(Bytes limit, const Program& program) {
  return fmt::format("{}, {} of the peak", format_bytes(limit),
                     percent(share(static_cast<double>(limit), static_cast<double>(program.peak_demand()))));
}

std::optional<std::string> why_out_of_reach(Bytes limit, const Program& program) {
  const OpNeed need = largest_op_need(program);
  if (limit >= need.bytes) return std::nullopt;
  return fmt::format(
      "no plan can keep a limit of {} ({} bytes): op {} '{}' alone needs {} ({} bytes), which is the "
      "smallest limit",
      format_bytes(limit), limit, need.op, program.op(need.op).name, format_bytes(need.bytes), need.bytes);
}

}  // namespace ebb::cli
