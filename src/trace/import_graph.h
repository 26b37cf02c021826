// The op graphs of other groups (data/README.md): kernels with times, tensors with sizes, as JSON.
//
// What the file leaves to rules, and the rule:
//  - `const` or `global` tensors are persistent;
//  - a tensor read (or mutated) before any op made it must have come from before the step: persistent too; so
//  is one
//    that no op uses, since nothing says when it came;
//  - every other tensor is born at the op that first writes it and lives over the boundary to op 0 if
//  `end_live`, to
//    `release_after_op` if that is given, and to its last use otherwise;
//  - `mutates`, and a tensor both in `in` and `out`, is read and written;
//  - ops without outputs (views) stay: they read, and cost their time.
#pragma once

#include <string>
#include <string_view>

#include "trace/program.h"

namespace ebb {

// Throws InputError whose message begins with `file` and names the op or tensor.
Program import_graph(std::string_view json, const std::string& file);

}  // namespace ebb
