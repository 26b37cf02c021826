#include "cli/machine_options.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "machine/machine_file.h"
#include "machine/scale.h"
#include "machine/units.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

constexpr double kLargestScale = 1e6;

}  // namespace

void add_machine(CLI::App& command, MachineOptions& options) {
  command.add_option("-m,--machine", options.name, "A machine of `ebb machines`, or a JSON file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  add_machine_changes(command, options);
}

void add_machine_changes(CLI::App& command, MachineOptions& options) {
  command.add_option("--set", options.overrides, "Change a field, e.g. bandwidth_in=12GB/s; repeatable")
      ->type_name("FIELD=VALUE")
      ->expected(1)
      ->take_all();
  command
      .add_option("--recorded-on", options.recorded_on,
                  "Scale op times from this machine by its FLOPs and memory bandwidth")
      ->type_name("NAME|FILE");
  auto* scale = command.add_option("--scale", options.scale, "Ops take this many times the recorded time");
  command
      .add_option("--step-time", options.step_time,
                  "Scale ops so that a plain step takes this long, e.g. 120ms")
      ->type_name("TIME")
      ->excludes(scale);
}

Machine resolve_machine(const MachineOptions& options, const Program& program) {
  return change_machine(load_machine(options.name), options, program);
}

Machine change_machine(Machine machine, const MachineOptions& options, const Program& program) {
  for (const std::string& assignment : options.overrides) {
    try {
      apply_override(machine, assignment);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--set {}: {}", assignment, error.what()));
    }
  }
  if (!options.recorded_on.empty()) machine = scale_to(machine, load_machine(options.recorded_on), program);
  if (options.scale) {
    if (!std::isfinite(*options.scale) || *options.scale <= 0 || *options.scale > kLargestScale)
      throw InputError(fmt::format("--scale {}: a factor above 0 and at most {} is expected", *options.scale,
                                   kLargestScale));
    machine.compute_scale = *options.scale;
  }
  if (!options.step_time.empty()) {
    machine = match_step_time(machine, program, parse_duration(options.step_time));
    if (machine.compute_scale > kLargestScale)
      throw InputError(fmt::format("--step-time {}: that is {:.3g} times the recorded step",
                                   options.step_time, machine.compute_scale));
  }
  return stretched_as(std::move(machine), program);
}

}  // namespace ebb::cli
