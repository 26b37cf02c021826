#include "report/report.h"

#include <algorithm>
#include <unordered_map>

#include "plan/recipes.h"
#include "report/kinds.h"
#include "report/timeline_json.h"

namespace ebb::report {
namespace {

constexpr int kVersion = 1;

Json encode_program(const Program& program) {
  return {{"name", program.info().name},
          {"unmanaged", program.info().unmanaged},
          {"peak_demand", program.peak_demand()},
          {"peak_load", program.peak_load()},
          {"peak_op", program.peak_op()},
          {"compute", program.compute_time()},
          {"measured_step", program.info().measured_step}};
}

void add_ops(const Program& program, const std::vector<Phase>& phases, Json& json) {
  std::unordered_map<std::string_view, std::size_t> known;
  Json names = Json::array();
  Json indices = column(program.ops(), [&](const Op& op) {
    const auto [place, is_new] = known.try_emplace(op.name, known.size());
    if (is_new) names.push_back(op.name);
    return place->second;
  });
  std::string letters;
  Json demand = Json::array();
  for (OpIndex i = 0; i < program.op_count(); ++i) demand.push_back(program.demand(i));
  for (const Phase phase : phases) letters += static_cast<char>(phase);
  json["names"] = std::move(names);
  json["ops"] = {{"name", std::move(indices)},
                 {"phase", letters},
                 {"duration", column(program.ops(), [](const Op& op) { return op.duration; })},
                 {"workspace", column(program.ops(), [](const Op& op) { return op.workspace; })},
                 {"demand", std::move(demand)}};
}

Json encode_blocks(const Program& program, const std::vector<Phase>& phases) {
  const auto kinds = kinds_of(program, phases);
  Json first = Json::array();
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const auto accesses = program.accesses(b);
    first.push_back(accesses.empty() ? kNoOp : accesses.front().op);
  }
  return {{"bytes", column(program.blocks(), [](const Block& block) { return block.bytes; })},
          {"kind", column(kinds, [](MemoryKind kind) { return static_cast<int>(kind); })},
          {"birth", column(program.blocks(), [](const Block& block) { return block.birth; })},
          {"death", column(program.blocks(), [](const Block& block) { return block.death; })},
          {"first", std::move(first)}};
}

// Time at which each op starts with nothing moved, two iterations of it.
std::vector<Nanoseconds> starts_of(const Program& program, const Machine& machine) {
  std::vector<Nanoseconds> starts{0};
  for (int iteration = 0; iteration < 2; ++iteration)
    for (const Op& op : program.ops()) starts.push_back(starts.back() + machine.op_time(op));
  return starts;
}

Json encode_gaps(const Program& program, const Gaps& gaps, const Machine& machine) {
  const auto starts = starts_of(program, machine);
  const auto recipes = find_recipes(program, gaps);
  const OpIndex peak = program.peak_op(), n = program.op_count();
  const auto bytes = [&](const Gap& gap) { return program.block(gap.block).bytes; };
  return {{"block", column(gaps, [](const Gap& gap) { return gap.block; })},
          {"from", column(gaps, [](const Gap& gap) { return gap.from; })},
          {"to", column(gaps, [](const Gap& gap) { return gap.to; })},
          {"kind", column(gaps, [](const Gap& gap) { return static_cast<int>(gap.kind); })},
          {"idle", column(gaps,
                          [&](const Gap& gap) {
                            return starts[static_cast<std::size_t>(gap.to)] -
                                   starts[static_cast<std::size_t>(gap.from) + 1];
                          })},
          {"peak", column(gaps,
                          [&](const Gap& gap) {
                            return (gap.from < peak && peak < gap.to) ||
                                           (gap.from < peak + n && peak + n < gap.to)
                                       ? 1
                                       : 0;
                          })},
          {"swap", column(gaps,
                          [&](const Gap& gap) {
                            return machine.copy_out_time(bytes(gap)) +
                                   (gap.kind == GapKind::trailing ? 0 : machine.copy_in_time(bytes(gap)));
                          })},
          {"recompute",
           column(recipes, [](const Recipe& recipe) { return recipe.remakable ? recipe.duration : -1; })}};
}

Json encode_residencies(const std::vector<TimedResidency>& residencies) {
  using Entry = TimedResidency;
  return {{"block", column(residencies, [](const Entry& entry) { return entry.residency.block; })},
          {"op", column(residencies, [](const Entry& entry) { return entry.residency.op; })},
          {"by", column(residencies,
                        [](const Entry& entry) { return static_cast<int>(entry.residency.taken_by); })},
          {"gap", column(residencies, [](const Entry& entry) { return entry.residency.gap; })},
          {"bytes", column(residencies, [](const Entry& entry) { return entry.bytes; })},
          {"offset", column(residencies, [](const Entry& entry) { return entry.offset; })},
          {"begin", column(residencies, [](const Entry& entry) { return entry.begin; })},
          {"end", column(residencies, [](const Entry& entry) { return entry.end; })}};
}

// By gap: 0 keep, 1 swap, 2 recompute, 3 leaves clean.
Json encode_decisions(const LoweredPlan& lowered) {
  Json actions = column(lowered.plan.decisions, [](const Decision& d) { return static_cast<int>(d.action); });
  for (const Swap& swap : lowered.swaps)
    if (swap.clean) actions[static_cast<std::size_t>(swap.gap)] = 3;
  return actions;
}

Json encode_rounds(const std::vector<SearchRound>& rounds) {
  return column(rounds, [](const SearchRound& round) {
    return Json::array({round.evaluations, round.best, round.mean, round.worst});
  });
}

Json encode_step(const Program& program, const StepView& view) {
  const StepResult& step = view.step;
  Json json = {{"title", view.title},
               {"planner", view.planner},
               {"machine", view.machine.name},
               {"limit", view.limit},
               {"sentence", what_limits(program, view)},
               {"step", step.step_time},
               {"plain", step.plain_time},
               {"bound", view.bound ? Json(*view.bound) : Json(nullptr)},
               {"by_address", view.time_by_address},
               {"periodic", step.periodic},
               {"peak_demand", step.peak_demand},
               {"peak_load", step.peak_load},
               {"footprint", view.packed ? Json(view.footprint) : Json(nullptr)},
               {"within_limit", view.within_limit},
               {"bytes_out", step.bytes_out},
               {"bytes_in", step.bytes_in},
               {"recompute", step.recompute_time},
               {"replays", view.lowered.replays.size()},
               {"host_peak", step.host_peak},
               {"stall", step.stalls},
               {"planning_seconds", view.planning_seconds},
               {"evaluations", view.evaluations}};
  json["findings"] = column(view.findings, [](const Finding& finding) {
    return Json::array({finding.name, finding.value, finding.unit});
  });
  json["rounds"] = encode_rounds(view.rounds);
  json["decisions"] = encode_decisions(view.lowered);
  json["timeline"] = encode_timeline(view.timeline);
  json["residencies"] = encode_residencies(view.residencies);
  if (view.residencies.empty())  // no steady order: the curve is all there is
    json["load"] = {
        {"time", column(view.timeline.load, [](const LoadPoint& point) { return point.time; })},
        {"bytes", column(view.timeline.load, [](const LoadPoint& point) { return point.bytes; })}};
  json["measured"] = view.measured ? encode_measured(*view.measured) : Json(nullptr);
  return json;
}

Json encode_plan(const ComparedPlan& plan) {
  Json json = {{"planner", plan.planner}};
  if (!plan.feasible()) {
    json["reason"] = plan.reason;
    return json;
  }
  json["step"] = plan.step.step_time;
  json["out"] = plan.step.bytes_out;
  json["in"] = plan.step.bytes_in;
  json["recompute"] = plan.step.recompute_time;
  json["planning_seconds"] = plan.planning_seconds;
  json["evaluations"] = plan.evaluations;
  json["rounds"] = encode_rounds(plan.rounds);
  return json;
}

Json encode_comparison(const Comparison& comparison) {
  Json json = {{"trace", comparison.trace},
               {"machine", comparison.machine},
               {"peak_demand", comparison.peak_demand},
               {"plain", comparison.plain_time},
               {"limits", Json::array()}};
  for (const ComparedLimit& limit : comparison.limits) {
    const Bound& bound = limit.bounds.best(PlanKind::any);
    json["limits"].push_back({{"text", limit.text},
                              {"bytes", limit.bytes},
                              {"bound", bound.step_time ? Json(*bound.step_time) : Json(nullptr)},
                              {"plans", column(limit.plans, encode_plan)}});
  }
  return json;
}

}  // namespace

std::string encode_report(const Report& report) {
  Json json = {{"format", "ebb-report"}, {"version", kVersion}, {"program", nullptr}};
  json["steps"] = Json::array();
  if (report.program != nullptr) {
    const Program& program = *report.program;
    const auto phases = phases_of(program);
    json["program"] = encode_program(program);
    add_ops(program, phases, json);
    json["blocks"] = encode_blocks(program, phases);
    json["gaps"] = encode_gaps(program, *report.gaps, report.steps.front().machine);
    for (const StepView& view : report.steps) json["steps"].push_back(encode_step(program, view));
  }
  json["comparisons"] = column(report.comparisons, encode_comparison);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ebb::report
