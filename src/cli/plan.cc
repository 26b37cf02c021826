#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/limit.h"
#include "cli/machine_options.h"
#include "cli/output_file.h"
#include "cli/packers.h"
#include "cli/plan_result.h"
#include "cli/planner_options.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "layout/residencies.h"
#include "plan/plan_file.h"
#include "plan/smallest_limit.h"
#include "planners/least_limit.h"
#include "planners/recompute/mirror.h"
#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/write_file.h"

namespace ebb::cli {
namespace {

constexpr OpIndex kCheapBound = 20'000;  // ops; `ebb bound` does larger ones
constexpr double kPlanBoundSeconds = 2;  // a bound stopped then still holds, and is said to be a bound

struct PlanRequest {
  TraceOptions trace;
  MachineOptions machine;
  PlannerOptions planner;
  std::string planner_name = "ebb";
  std::string mirror;
  std::string limit;
  std::string output;
  std::string packer;
  std::string start;
  std::string weights;
  std::string learnt;
  bool smallest = false;
  bool no_bound = false;
  bool json = false;
};

JudgedPlan search(const PlanningProblem& problem, const PlanRequest& options) {
  const Planner& planner = find_planner(options.planner_name);
  if (const OpNeed need = largest_op_need(problem.program); problem.limit < need.bytes) {
    JudgedPlan none;
    none.infeasible = Infeasible{Obstacle::too_large, need.op, -1, need.bytes, problem.limit, ""};
    return none;
  }
  ProgressBar bar;
  PlannerOptions with_progress = options.planner;
  with_progress.progress = bar.follow(options.planner_name, 0, 1);
  return plan_and_judge(planner, problem, with_progress);
}

PackedPlan pack(const PlanningProblem& problem, const JudgedPlan& judged, const std::string& name) {
  if (judged.schedule.commands.empty()) throw InputError("--pack: the plan has no steady order to lay out");
  const Packer& packer = find_packer(name);
  const layout::Problem left =
      layout::arena_problem(problem.program, problem.gaps, judged.lowered, judged.schedule).problem;
  return {std::string(packer.name), pack_checked(packer, left, {})};
}

// The plan that a file of mirror counts describes instead of one that a planner looks for.
JudgedPlan mirrored(const PlanningProblem& problem, const std::string& file) {
  const MirrorCounts counts = parse_mirror_counts(read_file(file), file, problem.program);
  return judge(problem, Mirror(problem.program, problem.gaps).plan(counts));
}

void save_weights(const JudgedPlan& judged, const PlanRequest& options) {
  if (judged.knowledge.empty())
    throw InputError(fmt::format("--save-weights: planner '{}' learnt nothing", options.planner_name));
  write_file_atomically(options.learnt, judged.knowledge);
}

Answer run(const PlanRequest& options) {
  find_planner(options.planner_name);
  if (!options.packer.empty()) find_packer(options.packer);
  require_writable(options.output, {options.trace.path});
  require_writable(options.learnt, {options.trace.path});
  const Program program = load(options.trace);
  const Gaps gaps(program);
  const Machine machine = resolve_machine(options.machine, program);
  PlanRequest prepared = options;
  if (!options.start.empty()) prepared.planner.start = read_plan(options.start, program, gaps).plan;
  if (!options.weights.empty()) prepared.planner.knowledge = read_maybe_gzipped(options.weights);
  std::optional<LeastLimit> least;
  if (options.smallest)
    least = find_least_limit(program, gaps, machine, find_planner(options.planner_name), prepared.planner);
  const PlanningProblem problem{program, gaps, machine,
                                least ? least->limit : parse_limit(options.limit, program)};
  const bool by_hand = !options.mirror.empty();
  const std::string planner = by_hand ? "mirror counts" : options.planner_name;
  const JudgedPlan judged = least     ? std::move(least->plan)
                            : by_hand ? mirrored(problem, options.mirror)
                                      : search(problem, prepared);
  PlanResult result{options.trace.path, planner, options.output, problem, judged};
  if (least) result.smallest = least->proved ? "no plan can keep less" : "within 0.1 %, for this planner";
  if (!options.no_bound && program.op_count() <= kCheapBound && (options.json || !judged.infeasible))
    result.bounds = bounds(program, gaps, machine, problem.limit, {.lp_seconds = kPlanBoundSeconds});
  if (!judged.infeasible && !options.packer.empty()) {
    check_schedule(judged);
    result.packed = pack(problem, judged, options.packer);
  }
  Answer answer = answer_for(result, options.json);
  if (!options.learnt.empty()) save_weights(judged, options);
  if (!judged.infeasible && !options.output.empty())
    write_plan(options.output, {problem.limit, machine, planner, judged.lowered.plan}, program, gaps);
  return answer;
}

}  // namespace

Command add_plan(CLI::App& tool) {
  auto options = std::make_shared<PlanRequest>();
  CLI::App* command =
      tool.add_subcommand("plan", "Plan a training step under a memory limit and say what it costs");
  add_trace(*command, options->trace);
  auto* limits = command->add_option_group("limit");
  limits->add_option("-l,--limit", options->limit, "Memory limit: 8GiB, or 50% of the peak demand")
      ->type_name("SIZE|%");
  limits->add_flag("--smallest", options->smallest,
                   "Find the smallest limit that the planner can keep, and plan for it");
  limits->require_option(1);
  add_machine(*command, options->machine);
  command->add_option("-p,--planner", options->planner_name, "One of `ebb planners`")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--mirror", options->mirror,
                   "Instead of a planner: how often each forward op runs again, lines of \"OP COUNT\"; "
                   "OP: its index, its name or *")
      ->type_name("FILE")
      ->excludes("--planner");
  command->add_option("-o,--output", options->output, "Write the plan here, timing included")
      ->type_name("FILE");
  command
      ->add_option("--pack", options->packer,
                   "Also lay out what stays, and say the footprint: pack, smartpool, ... as in `ebb pack`")
      ->type_name("ALGORITHM");
  command
      ->add_option("--start", options->start,
                   "A plan of the same step to start from; the result of a search is never worse")
      ->type_name("FILE");
  command
      ->add_option("--weights", options->weights,
                   "What a planner that learns starts from: dqn, as written by --save-weights")
      ->type_name("FILE");
  command->add_option("--save-weights", options->learnt, "Write what the planner has learnt here")
      ->type_name("FILE");
  add_planner_options(*command, options->planner);
  command->add_flag("--no-bound", options->no_bound,
                    "Do not compute how close to the best possible the plan is (nor above 20000 ops)");
  command->add_flag("--json", options->json, "JSON instead of a table; bytes and nanoseconds");
  command->footer(
      "Exit code 1: the planner found no plan that keeps the limit; no file is written\n"
      "Example: ebb plan data/resnet50.json.gz --limit 50% --machine h200 -o plan.json\n"
      "         ebb plan data/resnet50.json.gz --smallest --no-swap");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
