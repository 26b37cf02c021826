// A trace whose iteration was found → Program.
//
// An op is an exec event. A malloc before an op belongs to it, a free after an op too. Blocks are matched
// across repeats by position: the block of the k-th malloc of an event, and the one a period later, are one
// Block.
//  - Used in each repeat and older than all of them: persistent. Older and never used: unmanaged bytes.
//  - Malloc'd and freed inside one op that does not use it: the op's workspace, as is what the recorder put
//  there; the
//    largest of all repeats.
//  - Alive for longer than a period (a leak, a history kept on the device): as many of them as are alive at
//  once are
//    unmanaged bytes, and ops that use one cannot be replayed. Of a leak one is counted.
// Durations and issue times are the medians of all repeats (the lower one of two); issue times count from the
// iteration's first op; the measured step is the median distance of that op's issues. Last, the Program is
// rotated to its least_load_boundary.
#pragma once

#include "trace/detect.h"
#include "trace/program.h"
#include "trace/trace.h"

namespace ebb {

// REQUIRES: the detection says found and was made on this trace; `blocks` is its block_histories. Throws
// InputError if the repeat holds no ops or Program::build refuses.
Program extract_iteration(const Trace& trace, const std::vector<BlockHistory>& blocks,
                          const Detection& detection);

// read, detect, extract: throws InputError saying "not yet" or "not periodic" if no iteration is found.
Program iteration_of(const Trace& trace, const std::string& place, const DetectOptions& options = {});

}  // namespace ebb
