// Any file that holds a training step → Program. The one door for the command line and the tests.
#pragma once

#include <string>

#include "trace/detect.h"
#include "trace/program.h"

namespace ebb {

struct LoadOptions {
  bool with_unmanaged =
      false;  // step traces: count what the allocator held beyond the blocks (import_step.h)
  Bytes smallest_managed = 64 * kKiB;  // blocks below this never move
  DetectOptions detect = {};           // own traces: when an iteration counts as found
  bool accept_torn_end = false;        // own traces: take what stands before a chunk that a crash cut off
};

// Recognises the format by content, not by name: step trace or op graph (JSON, gzip'd or plain), or Ebb's own
// trace, whose repeating iteration is found first. Throws SystemError if the file cannot be read, InputError
// with the place if its content is not what it should be.
Program load_program(const std::string& path, const LoadOptions& options = {});

}  // namespace ebb
