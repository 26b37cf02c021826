// [SUB] §3: how much memory results take if nothing is done about it, if ops work in place where they can,
// and if memory that is no longer needed is used again.
#pragma once

#include <string_view>

#include "trace/program.h"

namespace ebb {

// Bytes of all that ops make and the iteration does not leave behind: no weights, no final gradients, no
// workspace.
struct SharingSummary {
  Bytes no_optimisation = 0;  // every result has memory of its own, each write of a block being one
  Bytes in_place = 0;         // a result takes over the memory of an input nobody else waits for
  Bytes sharing = 0;          // and memory whose last reader has run is recycled, by best fit
  bool operator==(const SharingSummary&) const = default;
};

// Liveness counters over the program in its order. An op works in place where the trace says so, or where its
// name says that it is elementwise, its input has no other pending reader and both are equally large. Adding
// to a gradient that outlives the iteration costs nothing then.
SharingSummary analyse_sharing(const Program& program);

// Does an op of this name make each element from the same element of its inputs?
bool is_elementwise(std::string_view op_name);

}  // namespace ebb
