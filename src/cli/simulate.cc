#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/limit.h"
#include "cli/machine_options.h"
#include "cli/plan_result.h"
#include "cli/trace_options.h"
#include "machine/machine_file.h"
#include "plan/plan_file.h"

namespace ebb::cli {
namespace {

struct SimulateRequest {
  TraceOptions trace;
  MachineOptions machine{.name = ""};
  std::string plan;
  std::string limit;
  bool json = false;
};

Answer run(const SimulateRequest& options) {
  const Program program = load(options.trace);
  const Gaps gaps(program);
  const PlanRecord record = read_plan(options.plan, program, gaps);
  const Machine base = options.machine.name.empty() ? record.machine : load_machine(options.machine.name);
  const Machine machine = change_machine(base, options.machine, program);
  const Bytes limit = options.limit.empty() ? record.limit : parse_limit(options.limit, program);
  const PlanningProblem problem{program, gaps, machine, limit};
  const JudgedPlan judged = judge(problem, record.plan);
  return answer_for({options.trace.path, record.planner, options.plan, problem, judged}, options.json);
}

}  // namespace

Command add_simulate(CLI::App& tool) {
  auto options = std::make_shared<SimulateRequest>();
  CLI::App* command = tool.add_subcommand("simulate", "Judge a plan that was written by `ebb plan`");
  add_trace(*command, options->trace);
  command->add_option("PLAN", options->plan, "The plan")->required()->type_name("FILE");
  command->add_option("-l,--limit", options->limit, "Another limit than the plan's; its timing stays")
      ->type_name("SIZE|%");
  command->add_option("-m,--machine", options->machine.name, "Another machine than the plan's")
      ->type_name("NAME|FILE");
  add_machine_changes(*command, options->machine);
  command->add_flag("--json", options->json, "JSON instead of a table; bytes and nanoseconds");
  command->footer(
      "Exit code 1: the plan does not keep the limit or cannot be carried out\n"
      "Example: ebb simulate data/resnet50.json.gz plan.json --limit 8GiB");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
