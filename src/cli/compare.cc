#include <fmt/format.h>

#include <memory>

#include "cli/bound_view.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/json.h"
#include "cli/lists.h"
#include "cli/machine_options.h"
#include "cli/output_file.h"
#include "cli/planner_options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "machine/units.h"
#include "report/comparison_chart.h"
#include "report/page.h"
#include "report/report.h"
#include "trace/write_file.h"

namespace ebb::cli {
namespace {

struct CompareRequest {
  std::vector<std::string> traces;
  TraceOptions rules;
  MachineOptions machine;
  PlannerOptions planner;
  std::string limits = "90%,70%,50%";
  std::string planners = "all";
  std::string html;
  std::string svg;
  bool limits_given = false;
  bool planners_given = false;
  bool curve = false;
  bool csv = false;
  bool json = false;
};

constexpr const char* kCurvePlanner = "ebb";

std::vector<Comparison> compare_all(const CompareRequest& options) {
  const std::vector<const Planner*> planners =
      choose_planners(options.curve && !options.planners_given ? kCurvePlanner : options.planners);
  std::vector<std::string> limits = split(options.limits, "--limits");
  const std::vector<std::string> machines = split(options.machine.name, "--machine");
  const auto cells =
      static_cast<double>(options.traces.size() * machines.size() * limits.size() * planners.size());
  ProgressBar bar;
  double done = 0;
  std::vector<Comparison> comparisons;
  for (const std::string& path : options.traces) {
    TraceOptions trace = options.rules;
    trace.path = path;
    const Program program = load(trace);
    if (options.curve && !options.limits_given) limits = curve_limits(program);
    const auto progress_for = [&](const std::string& planner, const std::string& limit) {
      const double from = std::min(done++ / cells, 1.0);
      const std::string what = fmt::format("{} {} at {}", short_name(path), planner, limit);
      bar.show(from, what);
      return bar.follow(what, from, from + 1 / cells);
    };
    std::vector<Machine> resolved;  // all of them before anything is planned
    for (const std::string& name : machines) {
      MachineOptions one = options.machine;
      one.name = name;
      resolved.push_back(resolve_machine(one, program));
    }
    for (const Machine& machine : resolved)
      comparisons.push_back((options.curve ? compare_curves : compare)(
          {path, program, machine, limits, planners, options.planner}, progress_for));
  }
  return comparisons;
}

std::string bound_cell(const Bounds& bounds) {
  const Bound& best = bounds.best(PlanKind::any);
  return best.step_time ? factor(bounds.ratio(best)) : "-";
}

std::string ratio_table(const Comparison& comparison) {
  Table table;
  table.column("planner", Align::left);
  for (const ComparedLimit& limit : comparison.limits) table.column(limit.text);
  for (std::size_t p = 0; p < comparison.limits.front().plans.size(); ++p) {
    std::vector<std::string> cells{comparison.limits.front().plans[p].planner};
    for (const ComparedLimit& limit : comparison.limits)
      cells.push_back(limit.plans[p].feasible() ? factor(limit.plans[p].step.ratio()) : "-");
    table.row(std::move(cells));
  }
  std::vector<std::string> bound_row{"(bound)"};
  for (const ComparedLimit& limit : comparison.limits) bound_row.push_back(bound_cell(limit.bounds));
  table.row(std::move(bound_row));
  return table.text();
}

// A limit a line: a curve has many of them.
std::string curve_table(const Comparison& comparison) {
  Table table;
  table.column("limit");
  for (const ComparedPlan& plan : comparison.limits.front().plans) table.column(plan.planner);
  table.column("(bound)");
  for (const ComparedLimit& limit : comparison.limits) {
    std::vector<std::string> cells{limit.text.ends_with('%') ? limit.text : format_bytes(limit.bytes)};
    for (const ComparedPlan& plan : limit.plans)
      cells.push_back(plan.feasible() ? factor(plan.step.ratio()) : "-");
    cells.push_back(bound_cell(limit.bounds));
    table.row(std::move(cells));
  }
  return table.text();
}

// One line per reason: the planners that share it at a limit are named together.
std::string reasons(const Comparison& comparison) {
  std::string text;
  for (const ComparedLimit& limit : comparison.limits) {
    std::vector<std::pair<std::string, std::string>> by_reason;
    for (const ComparedPlan& plan : limit.plans) {
      if (plan.feasible()) continue;
      auto known = std::find_if(by_reason.begin(), by_reason.end(),
                                [&](const auto& r) { return r.first == plan.reason; });
      if (known == by_reason.end())
        by_reason.emplace_back(plan.reason, plan.planner);
      else
        known->second += ", " + plan.planner;
    }
    for (const auto& [reason, planners] : by_reason)
      text += fmt::format("- {} at {}: {}\n", planners, limit.text, reason);
  }
  return text;
}

std::string as_text(const std::vector<Comparison>& comparisons, bool curve) {
  std::string text;
  for (const Comparison& comparison : comparisons) {
    text += fmt::format("{}{} on {}: step time relative to a plain step of {}; peak demand {}\n\n{}",
                        text.empty() ? "" : "\n", short_name(comparison.trace), comparison.machine,
                        format_time(comparison.plain_time), format_bytes(comparison.peak_demand),
                        curve ? curve_table(comparison) : ratio_table(comparison));
    if (const std::string lines = reasons(comparison); !lines.empty()) text += "\n" + lines;
  }
  return text;
}

Json to_json(const ComparedPlan& plan) {
  if (!plan.feasible()) return {{"planner", plan.planner}, {"feasible", false}, {"reason", plan.reason}};
  return {{"planner", plan.planner},
          {"feasible", true},
          {"step_ns", plan.step.step_time},
          {"ratio", plan.step.ratio()},
          {"peak_demand_bytes", plan.step.peak_demand},
          {"bytes_out", plan.step.bytes_out},
          {"bytes_in", plan.step.bytes_in},
          {"recompute_ns", plan.step.recompute_time},
          {"host_peak_bytes", plan.step.host_peak},
          {"planning_seconds", plan.planning_seconds},
          {"evaluations", plan.evaluations}};
}

Json as_json(const std::vector<Comparison>& comparisons) {
  Json all = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json json = {{"trace", comparison.trace},
                 {"machine", comparison.machine},
                 {"peak_demand_bytes", comparison.peak_demand},
                 {"plain_ns", comparison.plain_time},
                 {"limits", Json::array()}};
    for (const ComparedLimit& limit : comparison.limits) {
      Json plans = Json::array();
      for (const ComparedPlan& plan : limit.plans) plans.push_back(to_json(plan));
      json["limits"].push_back({{"limit", limit.text},
                                {"limit_bytes", limit.bytes},
                                {"bound", bound_json(limit.bounds, limit.bounds.best(PlanKind::any))},
                                {"plans", std::move(plans)}});
    }
    all.push_back(std::move(json));
  }
  return all;
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string text = "\"";
  for (char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string as_csv(const std::vector<Comparison>& comparisons) {
  std::string text =
      "trace,machine,limit,limit_bytes,planner,feasible,step_ns,plain_ns,ratio,bound_ratio,bytes_out,bytes_"
      "in,"
      "recompute_ns,planning_seconds,evaluations,reason\n";
  for (const Comparison& comparison : comparisons)
    for (const ComparedLimit& limit : comparison.limits)
      for (const ComparedPlan& plan : limit.plans) {
        text += fmt::format("{},{},{},{},{},{:d},", quoted(comparison.trace), quoted(comparison.machine),
                            quoted(limit.text), limit.bytes, plan.planner, plan.feasible());
        const Bound& bound = limit.bounds.best(PlanKind::any);
        const std::string bound_ratio =
            bound.step_time ? fmt::format("{:.6f}", limit.bounds.ratio(bound)) : "";
        if (plan.feasible())
          text += fmt::format("{},{},{:.6f},{},{},{},{},", plan.step.step_time, comparison.plain_time,
                              plan.step.ratio(), bound_ratio, plan.step.bytes_out, plan.step.bytes_in,
                              plan.step.recompute_time);
        else
          text += fmt::format(",{},,{},,,,", comparison.plain_time, bound_ratio);
        text += fmt::format("{:.6f},{},{}\n", plan.planning_seconds, plan.evaluations, quoted(plan.reason));
      }
  return text;
}

// Called by the step's name rather than by the file it was read from.
std::vector<Comparison> named(std::vector<Comparison> comparisons) {
  for (Comparison& comparison : comparisons) comparison.trace = short_name(comparison.trace);
  return comparisons;
}

Answer run(const CompareRequest& options) {
  if (!options.html.empty()) report::require_page();
  require_writable(options.html, options.traces);
  require_writable(options.svg, options.traces);
  const std::vector<Comparison> comparisons = compare_all(options);
  if (!options.html.empty())
    write_file_atomically(options.html,
                          report::render_page(report::encode_report({.comparisons = named(comparisons)})));
  if (!options.svg.empty()) write_file_atomically(options.svg, report::draw_comparisons(named(comparisons)));
  return {.text = options.json  ? print(as_json(comparisons))
                  : options.csv ? as_csv(comparisons)
                                : as_text(comparisons, options.curve)};
}

}  // namespace

Command add_compare(CLI::App& tool) {
  auto options = std::make_shared<CompareRequest>();
  CLI::App* command =
      tool.add_subcommand("compare", "Run planners at several limits and show them side by side");
  command->add_option("TRACE", options->traces, "Training steps: step traces, op graphs or Ebb traces")
      ->required()
      ->type_name("FILE");
  auto* limits = command
                     ->add_option("-l,--limits", options->limits,
                                  "Limits, separated by commas: sizes or shares of the peak demand")
                     ->type_name("LIST")
                     ->capture_default_str();
  auto* planners =
      command->add_option("-p,--planners", options->planners, "Planners, separated by commas, or all")
          ->type_name("LIST")
          ->capture_default_str();
  command->add_flag(
      "--curve", options->curve,
      "The whole curve of step time against limit, down to the smallest: a search starts from its "
      "neighbour's plan. By default of ebb, every 5 % of the peak");
  command
      ->add_option("-m,--machine", options->machine.name,
                   "Machines, separated by commas: names or JSON files")
      ->type_name("LIST")
      ->capture_default_str();
  add_machine_changes(*command, options->machine);
  add_planner_options(*command, options->planner);
  add_trace_rules(*command, options->rules);
  auto* json = command->add_flag("--json", options->json, "JSON instead of tables; bytes and nanoseconds");
  command
      ->add_flag("--csv", options->csv, "CSV instead of tables: a line per trace, machine, limit and planner")
      ->excludes(json);
  command->add_option("--html", options->html, "Also as a page to open in a browser")->type_name("FILE");
  command->add_option("--svg", options->svg, "Also as a figure: overhead against memory")->type_name("FILE");
  command->footer(
      "Exit code 0 even where planners do not fit: the table says so and why\n"
      "Example: ebb compare data/resnet50.json.gz data/gpt2.json.gz --limits 90%,70%,50% --planners all\n"
      "         ebb compare data/resnet50.json.gz --curve");
  return {command, [options, limits, planners] {
            options->limits_given = limits->count() > 0;
            options->planners_given = planners->count() > 0;
            return run(*options);
          }};
}

}  // namespace ebb::cli
