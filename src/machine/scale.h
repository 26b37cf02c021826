// Op times recorded on one GPU, as they would be on another.
#pragma once

#include <string_view>

#include "machine/machine.h"

namespace ebb {

// What limits an op: arithmetic (convolutions, matrix products, attention) or memory traffic (everything
// else).
enum class OpKind : char { arithmetic, traffic };
OpKind op_kind(std::string_view op_name);

// `machine` with op_scale filled in for every op name of the program: the ratio of the two machines' matrix
// rates for arithmetic, of their memory bandwidths for traffic. Throws InputError if either machine lacks one
// of them.
Machine scale_to(Machine machine, const Machine& recorded_on, const Program& program);

// `machine` with compute_scale such that a plain step takes `target`: how a paper's step time is matched
// before its comparison is rerun. op_scale stays and keeps the proportions. Throws InputError if the program
// takes no time.
Machine match_step_time(Machine machine, const Program& program, Nanoseconds target);

// `machine` with the stretches of the program's compute, where it has those of the worst: an op that takes a
// part of the memory's bandwidth suffers that part of them. What it takes is what it reads and writes; all
// ops together have one share, by their times.
Machine stretched_as(Machine machine, const Program& program);

}  // namespace ebb
