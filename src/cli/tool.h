// The tool as a whole: its commands, and the way from a command line to an answer.
#pragma once

#include "cli/command.h"

namespace ebb::cli {

class Tool {
 public:
  Tool();
  // Throws InputError for a command line that cannot be understood, and what the command throws.
  Answer run(int argc, const char* const* argv);

 private:
  CLI::App app_;
  std::vector<Command> commands_;
};

}  // namespace ebb::cli
