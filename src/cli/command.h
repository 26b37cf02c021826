// What a command of the tool is: options on the command line, and an answer.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace ebb::cli {

// As documented in --help.
enum class ExitCode : int {
  ok = 0,
  does_not_fit = 1,  // an answer: no plan was found, or the plan does not keep the limit
  bad_input = 2,     // the command line, a file or a program breaks the rules
  system_error = 3,  // a file cannot be read or written, no memory left, or a defect of Ebb
};

// Handed back whole, so that nothing is printed by a command that fails half-way.
struct Answer {
  std::string text = {};       // for stdout
  std::string complaint = {};  // one sentence for stderr
  ExitCode code = ExitCode::ok;
};

struct Command {
  CLI::App* options = nullptr;
  std::function<Answer()> run;
};

// One file each. They register their options with the tool; `run` is called after a successful parse.
Command add_inspect(CLI::App& tool);
Command add_plan(CLI::App& tool);
Command add_simulate(CLI::App& tool);
Command add_bound(CLI::App& tool);
Command add_compare(CLI::App& tool);
Command add_report(CLI::App& tool);
Command add_batch(CLI::App& tool);
Command add_machines(CLI::App& tool);
Command add_planners(CLI::App& tool);
Command add_pack(CLI::App& tool);
Command add_convert(CLI::App& tool);
Command add_run(CLI::App& tool);
Command add_record(CLI::App& tool);
Command add_generate(CLI::App& tool);

}  // namespace ebb::cli
