// The limit, or the host's, cannot be kept: the one failure of the runtime that is neither bad input nor a
// broken machine. Its message names the op, the bytes asked for, the limit, and what stands in the way.
#pragma once

#include <stdexcept>
#include <string>

#include "trace/quantities.h"

namespace ebb {

class OutOfMemory : public std::runtime_error {
 public:
  // `lacking`: how much longer the longest hole would have to be, or, where not even an op's operands fit at
  // once, the arena; 0: not known.
  explicit OutOfMemory(const std::string& message, Bytes lacking = 0)
      : std::runtime_error(message), lacking_(lacking) {}

  Bytes lacking() const { return lacking_; }

 private:
  Bytes lacking_;
};

}  // namespace ebb
