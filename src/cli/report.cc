#include "report/report.h"

#include <fmt/format.h>

#include <memory>

#include "cli/bound_view.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/limit.h"
#include "cli/lists.h"
#include "cli/machine_options.h"
#include "cli/output_file.h"
#include "cli/plan_result.h"
#include "cli/planner_options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "machine/units.h"
#include "plan/plan_file.h"
#include "report/page.h"
#include "report/perfetto.h"
#include "report/timeline_json.h"
#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/write_file.h"

namespace ebb::cli {
namespace {

struct ReportRequest {
  TraceOptions trace;
  MachineOptions machine{.name = ""};
  PlannerOptions planner;
  std::string planners = "ebb";
  std::string limit;
  std::string limits;
  std::string plan;
  std::string measured;
  std::string output;
  std::string perfetto;
};

// What the report is about.
struct Subject {
  const Program& program;
  const Gaps& gaps;
  Machine machine;
};

Bytes limit_of(const ReportRequest& options, const Subject& subject,
               const std::optional<PlanRecord>& record) {
  if (!options.limit.empty()) return parse_limit(options.limit, subject.program);
  return record ? record->limit : 0;
}

// The plans to look at: that of the file, or one of each planner. Those that do not fit are told about.
std::vector<std::pair<std::string, JudgedPlan>> judge_all(const ReportRequest& options,
                                                          const PlanningProblem& problem,
                                                          const std::optional<PlanRecord>& record) {
  if (record) {
    JudgedPlan judged = judge(problem, record->plan);
    if (judged.infeasible)
      throw InputError(fmt::format("{}: {}", options.plan, reason_for(problem, *judged.infeasible)));
    std::vector<std::pair<std::string, JudgedPlan>> one;
    one.emplace_back(record->planner, std::move(judged));
    return one;
  }
  std::vector<std::pair<std::string, JudgedPlan>> all;
  if (why_out_of_reach(problem.limit, problem.program)) return all;
  const std::vector<const Planner*> planners = choose_planners(options.planners);
  ProgressBar bar;
  for (std::size_t i = 0; i < planners.size(); ++i) {
    const std::string name(planners[i]->name);
    const auto share = [&](std::size_t k) {
      return static_cast<double>(k) / static_cast<double>(planners.size());
    };
    bar.show(share(i), name);
    PlannerOptions settings = options.planner;
    settings.progress = bar.follow(name, share(i), share(i + 1));
    all.emplace_back(name, plan_and_judge(*planners[i], problem, settings));
    check_schedule(all.back().second);
  }
  return all;
}

report::Comparison comparison_of(const ReportRequest& options, const PlanningProblem& problem,
                                 const Bounds& bounds,
                                 const std::vector<std::pair<std::string, JudgedPlan>>& plans) {
  report::Comparison comparison{.trace = options.trace.path,
                                .machine = problem.machine.name,
                                .peak_demand = problem.program.peak_demand(),
                                .plain_time = bounds.plain_time};
  report::ComparedLimit limit{.text = options.limit.empty() ? format_bytes(problem.limit) : options.limit,
                              .bytes = problem.limit,
                              .bounds = bounds};
  for (const auto& [name, judged] : plans) limit.plans.push_back(compared(problem, name, judged));
  comparison.limits.push_back(std::move(limit));
  return comparison;
}

// The same planners at other limits, so that there is a curve.
void add_limits(const ReportRequest& options, const PlanningProblem& problem,
                report::Comparison& comparison) {
  const std::vector<std::string> limits = split(options.limits, "--compare");
  const std::vector<const Planner*> planners = choose_planners(options.planners);
  ProgressBar bar;
  double done = 0;
  const auto cells = static_cast<double>(limits.size() * planners.size());
  const auto progress_for = [&](const std::string& planner, const std::string& limit) {
    const double from = done++ / cells;
    const std::string what = fmt::format("{} at {}", planner, limit);
    bar.show(from, what);
    return bar.follow(what, from, from + 1 / cells);
  };
  Comparison others =
      compare({options.trace.path, problem.program, problem.machine, limits, planners, options.planner},
              progress_for);
  for (ComparedLimit& limit : others.limits) comparison.limits.push_back(std::move(limit));
}

// The same planner for a smaller limit, so that what it leaves can be packed within the given one.
layout::MakePlan planner_for_less(const ReportRequest& options, const PlanningProblem& problem,
                                  const std::string& name) {
  return [&options, &problem, name](Bytes limit) -> std::optional<Plan> {
    PlanningResult result =
        find_planner(name).plan({problem.program, problem.gaps, problem.machine, limit}, options.planner);
    if (result.infeasible) return std::nullopt;
    return std::move(result.plan);
  };
}

report::Report make_report(const ReportRequest& options, const Subject& subject,
                           const std::optional<PlanRecord>& record, std::string& text) {
  report::Report made{.program = &subject.program, .gaps = &subject.gaps};
  made.steps.push_back(report::plain_view(subject.program, subject.gaps, subject.machine));
  const Bytes limit = limit_of(options, subject, record);
  if (limit == 0) return made;
  const PlanningProblem problem{subject.program, subject.gaps, subject.machine, limit};
  const auto plans = judge_all(options, problem, record);
  const Bounds best =
      bounds(problem.program, problem.gaps, problem.machine, limit, {.lp_seconds = kBoundSeconds});
  for (const auto& [name, judged] : plans) {
    if (judged.infeasible) {
      text += fmt::format("{}: {}\n", name, reason_for(problem, *judged.infeasible));
      continue;
    }
    report::StepView view = report::planned_view(
        problem, name, judged, record ? layout::MakePlan{} : planner_for_less(options, problem, name));
    view.bound = best.best(PlanKind::any).step_time;
    text += fmt::format("{}: {} x plain. {}\n", name, factor(view.step.ratio()),
                        report::what_limits(subject.program, view));
    made.steps.push_back(std::move(view));
  }
  if (plans.empty()) text += *why_out_of_reach(limit, subject.program) + "\n";
  made.comparisons.push_back(comparison_of(options, problem, best, plans));
  if (!options.limits.empty()) add_limits(options, problem, made.comparisons.front());
  return made;
}

// A plan that was written, and what running it was seen to do.
struct Given {
  std::optional<PlanRecord> plan;
  std::optional<report::MeasuredStep> measured;
};

// What ebb.report() wrote holds the plan that was followed and one iteration of it as it was measured.
Given read_measured(const std::string& path, const Program& program, const Gaps& gaps) try {
  const auto json = nlohmann::json::parse(read_file(path));
  if (!json.contains("plan") || !json.contains("measured"))
    throw InputError(fmt::format("{}: no plan was followed when this was written", path));
  return {decode_plan(json["plan"].dump(), path, program, gaps),
          report::decode_measured(json["measured"], path, program, gaps)};
} catch (const nlohmann::json::exception& error) {
  throw InputError(fmt::format("{}: {}", path, error.what()));
}

Given read_given(const ReportRequest& options, const Program& program, const Gaps& gaps) {
  if (!options.measured.empty()) return read_measured(options.measured, program, gaps);
  if (!options.plan.empty()) return {read_plan(options.plan, program, gaps), {}};
  return {};
}

Machine machine_for(const ReportRequest& options, const Given& given, const Program& program) {
  if (options.machine.name.empty() && given.plan)
    return change_machine(given.plan->machine, options.machine, program);
  MachineOptions named = options.machine;
  if (named.name.empty()) named.name = MachineOptions{}.name;
  return resolve_machine(named, program);
}

std::string perfetto_of(const report::Report& made) {
  std::vector<report::Track> tracks;
  for (const report::StepView& view : made.steps) {
    tracks.push_back({view.planner.empty() ? view.title : view.title + ", predicted", view.timeline});
    if (view.measured) tracks.push_back({view.title + ", measured", view.measured->timeline});
  }
  return report::encode_perfetto(tracks, *made.program, *made.gaps);
}

Answer run(const ReportRequest& options) {
  if (options.output.empty() && options.perfetto.empty())
    throw InputError("ebb report needs --output or --perfetto: a file to write (see ebb report --help)");
  if (!options.output.empty()) report::require_page();
  if (options.limit.empty() && !options.limits.empty())
    throw InputError("--compare needs --limit: the one whose plans are looked at");
  choose_planners(options.planners);
  require_writable(options.output, {options.trace.path});
  require_writable(options.perfetto, {options.trace.path});
  const Program program = load(options.trace);
  const Gaps gaps(program);
  const Given given = read_given(options, program, gaps);
  const Subject subject{program, gaps, machine_for(options, given, program)};
  std::string text;
  report::Report made = make_report(options, subject, given.plan, text);
  if (given.measured && made.steps.size() > 1) made.steps.back().measured = given.measured;
  if (!options.output.empty()) {
    write_file_atomically(options.output, report::render_page(encode_report(made)));
    text += fmt::format("report written to {}\n", options.output);
  }
  if (!options.perfetto.empty()) {
    write_file_atomically(options.perfetto, perfetto_of(made));
    text += fmt::format("timeline for ui.perfetto.dev written to {}\n", options.perfetto);
  }
  return {.text = text};
}

}  // namespace

Command add_report(CLI::App& tool) {
  auto options = std::make_shared<ReportRequest>();
  CLI::App* command =
      tool.add_subcommand("report", "Show where the memory of a step goes, as a page to open in a browser");
  add_trace(*command, options->trace);
  command->add_option("-l,--limit", options->limit, "Also the step planned under this limit")
      ->type_name("SIZE|%");
  command->add_option("-p,--planners", options->planners, "By these planners, separated by commas, or all")
      ->type_name("LIST")
      ->capture_default_str();
  auto* plan =
      command
          ->add_option("--plan", options->plan, "By this plan, written by `ebb plan`, instead of a planner")
          ->type_name("FILE")
          ->excludes("--planners");
  command
      ->add_option("--compare", options->limits,
                   "The same planners at these limits too, separated by commas, for the comparison")
      ->type_name("LIST")
      ->excludes(plan);
  command
      ->add_option("-m,--machine", options->machine.name, "Name or file; h200, or the plan's, if not given")
      ->type_name("NAME|FILE");
  add_machine_changes(*command, options->machine);
  add_planner_options(*command, options->planner);
  command->add_option("-o,--output", options->output, "The page: one file that needs no network")
      ->type_name("FILE");
  command->add_option("--perfetto", options->perfetto, "What happens when, for ui.perfetto.dev")
      ->type_name("FILE");
  command
      ->add_option("--measured", options->measured,
                   "What ebb.report() wrote of a run of this step: its plan, and how it really went")
      ->type_name("FILE")
      ->excludes("--plan")
      ->excludes("--planners")
      ->excludes("--compare");
  command->footer(
      "Without --limit, --plan or --measured: the step as it is\n"
      "Example: ebb report data/gpt2.json.gz --limit 50% --planners ebb,dtr,home -o report.html");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
