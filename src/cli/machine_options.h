// Which machine a step is planned for.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace ebb::cli {

struct MachineOptions {
  std::string name = "h200";
  std::vector<std::string> overrides = {};
  std::string recorded_on = {};
  std::optional<double> scale = {};
  std::string step_time = {};
};

// --machine, and what changes it: --set, --recorded-on, --scale, --step-time.
void add_machine(CLI::App& command, MachineOptions& options);
// The changes alone, for commands that choose the machine in another way.
void add_machine_changes(CLI::App& command, MachineOptions& options);

// The preset or file `options.name` with the changes applied. Throws InputError naming the option.
Machine resolve_machine(const MachineOptions& options, const Program& program);
// `machine` with the changes applied.
Machine change_machine(Machine machine, const MachineOptions& options, const Program& program);

}  // namespace ebb::cli
