#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "cli/bound_view.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/limit.h"
#include "cli/machine_options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "machine/units.h"
#include "simulate/bounds.h"

namespace ebb::cli {
namespace {

struct BoundRequest {
  TraceOptions trace;
  MachineOptions machine;
  std::string limit;
  bool no_workspace = false;
  bool no_slowdown = false;
  int slices = BoundOptions{}.slices;
  double lp_seconds = BoundOptions{}.lp_seconds;
  bool json = false;
};

struct Result {
  const Program& program;
  const Machine& machine;
  Bytes limit;
  Bounds bounds;
};

constexpr std::array kKinds = {PlanKind::any, PlanKind::swap_only, PlanKind::recompute_only};

std::string as_text(const BoundRequest& options, const Result& result) {
  const Bounds& bounds = result.bounds;
  Table table;
  table.column("bound", Align::left);
  table.column("holds for", Align::left);
  for (const char* header : {"step time", "ratio", "least limit"}) table.column(header);
  for (const Bound* bound :
       {&bounds.compute, &bounds.transfer, &bounds.cover, &bounds.fluid_swap, &bounds.fluid})
    table.row({std::string(name_of(bound->kind)), plans_text(bound->holds_for),
               bound->step_time ? format_time(*bound->step_time) : "does not fit",
               bound->step_time ? factor(bounds.ratio(*bound)) : "-", format_bytes(bound->least_limit)});
  Table binding;
  for (const char* header : {"plans", "take at least", "because of"}) binding.column(header, Align::left);
  for (PlanKind kind : kKinds) {
    const Bound& best = bounds.best(kind);
    binding.row({plans_text(kind), bound_text(bounds, best), std::string(name_of(best.kind))});
  }
  return fmt::format("{} on {}, limit {}\nplain step {}\n\n{}\n{}", short_name(options.trace.path),
                     result.machine.name, describe_limit(result.limit, result.program),
                     format_time(bounds.plain_time), table.text(), binding.text());
}

Json as_json(const BoundRequest& options, const Result& result) {
  const Bounds& bounds = result.bounds;
  Json json = {{"trace", options.trace.path},
               {"machine", result.machine.name},
               {"limit_bytes", result.limit},
               {"peak_demand_bytes", result.program.peak_demand()},
               {"workspace", !options.no_workspace},
               {"slowdown", !options.no_slowdown},
               {"plain_ns", bounds.plain_time},
               {"bounds",
                {{"compute", bound_json(bounds, bounds.compute)},
                 {"transfer", bound_json(bounds, bounds.transfer)},
                 {"cover", bound_json(bounds, bounds.cover)},
                 {"fluid_swap", bound_json(bounds, bounds.fluid_swap)},
                 {"fluid", bound_json(bounds, bounds.fluid)}}}};
  for (PlanKind kind : kKinds) json["binding"][key_of(kind)] = bound_json(bounds, bounds.best(kind));
  return json;
}

Answer run(const BoundRequest& options) {
  const Program program = load(options.trace);
  const Gaps gaps(program);
  const Machine machine = resolve_machine(options.machine, program);
  const Bytes limit = parse_limit(options.limit, program);
  const WaitingLine waiting(fmt::format("bounds of {} ops", program.op_count()));
  const Result result{program, machine, limit,
                      bounds(program, gaps, machine, limit,
                             {.workspace = !options.no_workspace,
                              .slowdown = !options.no_slowdown,
                              .slices = options.slices,
                              .lp_seconds = options.lp_seconds})};
  Answer answer{.text = options.json ? print(as_json(options, result)) : as_text(options, result)};
  if (result.bounds.best(PlanKind::any).step_time) return answer;
  answer.code = ExitCode::does_not_fit;
  answer.complaint =
      why_out_of_reach(limit, program)
          .value_or(fmt::format("no plan can keep a limit of {}: the least is {}", format_bytes(limit),
                                format_bytes(result.bounds.best(PlanKind::any).least_limit)));
  return answer;
}

}  // namespace

Command add_bound(CLI::App& tool) {
  auto options = std::make_shared<BoundRequest>();
  CLI::App* command = tool.add_subcommand("bound", "Show how fast any plan can be at best under a limit");
  add_trace(*command, options->trace);
  command->add_option("-l,--limit", options->limit, "Memory limit: 8GiB, or 50% of the peak demand")
      ->required()
      ->type_name("SIZE|%");
  add_machine(*command, options->machine);
  command->add_flag("--no-workspace", options->no_workspace, "Leave the ops' workspaces out of their needs");
  command->add_flag("--no-slowdown", options->no_slowdown, "Copies do not slow compute down");
  command->add_option("--slices", options->slices, "Slices of the fluid bound: more is tighter and slower")
      ->check(CLI::Range(1, 100'000).description(""))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--lp-seconds", options->lp_seconds,
                   "Stop each linear program after this; the bound is then weaker")
      ->check(CLI::Range(1e-3, 1e9).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_flag("--json", options->json, "JSON instead of a table; bytes and nanoseconds");
  command->footer(
      "Exit code 1: no plan can keep the limit\n"
      "Example: ebb bound data/resnet50.json.gz --limit 50% --set bandwidth_in=12GB/s --set "
      "bandwidth_out=12GB/s");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
