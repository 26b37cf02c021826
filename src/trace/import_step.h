// The step traces of PyTorch training steps (data/README.md): one iteration each, as JSON.
//
// What the file leaves to rules, and the rule:
//  - workspace of an op: its extra bytes `x` less the bytes it brought, not below 0;
//  - running statistics (a block that exists for good, both read and written by a forward *batch_norm): a
//  side effect;
//  - gradients (brought in the iteration, outliving it): one wrapping residency that ends before the first
//  backward
//    op of the next iteration, and in any case before its successor's birth;
//  - brought by the update and outliving it: optimizer state made in the first step; persistent from then on;
//  - there before the iteration but freed in it, with no known successor: taken as persistent, so that the
//  load is
//    never understated.
#pragma once

#include <string>
#include <string_view>

#include "trace/program.h"

namespace ebb {

struct StepOptions {
  // Count what the allocator held beyond the recorded blocks (peak_allocated_bytes − peak demand) as
  // unmanaged.
  bool with_unmanaged = false;
};

// Throws InputError whose message begins with `file` and names the op or block.
Program import_step(std::string_view json, const std::string& file, const StepOptions& options = {});

}  // namespace ebb
