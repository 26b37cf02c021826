#include "cli/planner_options.h"

#include <algorithm>
#include <limits>
#include <thread>

namespace ebb::cli {
namespace {

// The check without its bounds in the help, where they are noise.
template <typename T>
CLI::Validator between(T least, T most) {
  return CLI::Range(least, most).description("");
}

void tune(PlannerOptions& options, const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    double value = 0;
    if (equals == 0 || equals == std::string::npos ||
        !CLI::detail::lexical_cast(change.substr(equals + 1), value))
      throw CLI::ValidationError("--tune", "'" + change + "' is not NAME=VALUE with a number");
    options.settings[change.substr(0, equals)] = value;
  }
}

}  // namespace

void add_planner_options(CLI::App& command, PlannerOptions& options) {
  command.add_option("--seed", options.seed, "Of planners that draw random numbers")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--deadline", options.deadline_seconds,
                  "Stop searching after this; 0: when the planner is done")
      ->check(between(0.0, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--evaluations", options.evaluations,
                  "Simulations a search may spend; 0: the planner's default")
      ->check(between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->capture_default_str();
  options.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
  command
      .add_option("--threads", options.threads,
                  "Threads a search may use; all cores by default. The result is the same")
      ->check(between(1, 4096))
      ->type_name("N");
  command
      .add_option_function<std::vector<std::string>>(
          "--tune", [&options](const std::vector<std::string>& changes) { tune(options, changes); },
          "Change a setting of the planner; `ebb planners` lists them")
      ->type_name("NAME=VALUE");
  command.add_flag_callback(
      "--no-swap", [&options] { options.allow_swap = false; }, "Nothing is copied to the host");
  command.add_flag_callback(
      "--no-recompute", [&options] { options.allow_recompute = false; }, "Nothing is computed again");
}

}  // namespace ebb::cli
