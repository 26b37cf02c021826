// Packing into several bounded arenas, where a single one large enough cannot be had.
#pragma once

#include "layout/packing.h"

namespace ebb::layout {

// REQUIRES: check(problem) passes, there is at least one buffer and one arena.
// Throws InputError for a negative arena and for buffers with a fixed offset.
Layout pack_into_arenas(const Problem& problem, const PackOptions& options);

}  // namespace ebb::layout
