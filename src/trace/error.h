// The exception types of Ebb. "Does not fit", "infeasible" and "out of time" are values, not exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace ebb {

// Bad input: a file, an option or a program that breaks the rules. The message names the place.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The operating system refused: a file cannot be opened, written or renamed.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ebb
