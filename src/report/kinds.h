// What the blocks of a step are for, told from how they are used. See docs/notes/report.md.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/program.h"

namespace ebb::report {

enum class MemoryKind : char { weights, optimizer, gradients, activations, workspace };
inline constexpr std::size_t kMemoryKinds = 5;

// The phase of each op: as recorded, or, where nothing was recorded, from the order in which weights are
// used, gradients are born and both are brought together.
std::vector<Phase> phases_of(const Program& program);

// By block. Weights and buffers are what persists and is used outside the update; optimizer state persists
// and is used only there; what is born in backward is a gradient, in the update a temporary (workspace).
std::vector<MemoryKind> kinds_of(const Program& program, const std::vector<Phase>& phases);

std::string_view name_of(MemoryKind kind);

}  // namespace ebb::report
