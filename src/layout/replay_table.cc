#include "layout/replay_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "trace/error.h"

namespace ebb::layout {

ReplayTable::ReplayTable(OpIndex ops, std::vector<PlannedMalloc> mallocs) {
  if (ops < 0) throw InputError(fmt::format("replay table: {} ops", ops));
  if (mallocs.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InputError(fmt::format("replay table: {} mallocs are too many", mallocs.size()));
  }
  std::sort(mallocs.begin(), mallocs.end(), [](const PlannedMalloc& a, const PlannedMalloc& b) {
    return std::tie(a.op, a.nth) < std::tie(b.op, b.nth);
  });
  start_.assign(static_cast<std::size_t>(ops) + 1, 0);
  offsets_.reserve(mallocs.size());
  for (const PlannedMalloc& malloc : mallocs) {
    if (malloc.op < 0 || malloc.op >= ops) {
      throw InputError(fmt::format("replay table: op {} of {}", malloc.op, ops));
    }
    const int expected = start_[malloc.op + 1]++;
    if (malloc.nth != expected) {
      throw InputError(
          fmt::format("replay table: op {} has malloc {} where {} is due", malloc.op, malloc.nth, expected));
    }
    offsets_.push_back(malloc.offset);
  }
  for (std::size_t op = 0; op + 1 < start_.size(); ++op) start_[op + 1] += start_[op];
}

}  // namespace ebb::layout
