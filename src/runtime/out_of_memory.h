// The limit, or the host's, cannot be kept: the one failure of the runtime that is neither bad input nor a
// broken machine. Its message names the op, the bytes asked for, the limit, and what stands in the way.
#pragma once

#include <stdexcept>

namespace ebb {

class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ebb
