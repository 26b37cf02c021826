#include "cli/plan_result.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "cli/bound_view.h"
#include "cli/limit.h"
#include "cli/rounds_table.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "machine/units.h"

namespace ebb::cli {
namespace {

constexpr std::array<std::string_view, kStallCauses> kStallNames = {"issue", "sync", "copy_in", "room"};
constexpr std::array<std::string_view, kStallCauses> kStallTexts = {"the host", "copies out", "copies in",
                                                                    "room"};

struct Counts {
  std::int64_t swaps = 0;
  std::int64_t clean = 0;
  std::int64_t recomputes = 0;
  std::int64_t replayed_ops = 0;
};

Counts count(const LoweredPlan& lowered) {
  Counts counts{.swaps = static_cast<std::int64_t>(lowered.swaps.size()),
                .replayed_ops = static_cast<std::int64_t>(lowered.replays.size())};
  for (const Swap& swap : lowered.swaps) counts.clean += swap.clean;
  for (const Decision& decision : lowered.plan.decisions)
    counts.recomputes += decision.action == Action::recompute;
  return counts;
}

std::string stalls_text(const StepResult& step) {
  std::string text;
  for (std::size_t i = 0; i < kStallCauses; ++i)
    if (step.stalls[i] > 0)
      text +=
          fmt::format("{}{} for {}", text.empty() ? "" : ", ", format_time(step.stalls[i]), kStallTexts[i]);
  return text.empty() ? "none" : text;
}

std::string finding_text(const Finding& finding) {
  if (finding.unit == "bytes") return format_bytes(static_cast<Bytes>(finding.value));
  if (finding.unit == "ns") return format_time(static_cast<Nanoseconds>(finding.value));
  return fmt::format("{:g}{}{}", finding.value, finding.unit.empty() ? "" : " ", finding.unit);
}

// What the arena may take: unmanaged bytes lie outside it.
Bytes managed_limit(const PlanningProblem& problem) {
  return problem.limit - problem.program.info().unmanaged;
}

std::string heading(const PlanResult& result) {
  return fmt::format("{} on {}, limit {}, planner {}\n", short_name(result.trace),
                     result.problem.machine.name,
                     describe_limit(result.problem.limit, result.problem.program), result.planner);
}

void add_bound(Facts& facts, const PlanResult& result) {
  const Bounds& bounds = *result.bounds;
  const Bound& any = bounds.best(PlanKind::any);
  if (!any.step_time) return;
  const double above =
      share(static_cast<double>(result.judged.step.step_time), static_cast<double>(*any.step_time));
  facts.add("bound", fmt::format("{} by {}: the plan is {} above it", bound_text(bounds, any),
                                 name_of(any.kind), percent(above - 1)));
}

std::string as_text(const PlanResult& result) {
  const StepResult& step = result.judged.step;
  const Counts counts = count(result.judged.lowered);
  const Bytes before = result.problem.program.peak_demand();
  Facts facts;
  if (!result.smallest.empty())
    facts.add("smallest limit", fmt::format("{} ({} bytes), {}", format_bytes(result.problem.limit),
                                            result.problem.limit, result.smallest));
  facts.add("step time", fmt::format("{}{}, {} x plain ({})", format_time(step.step_time),
                                     step.periodic ? "" : " on average", factor(step.ratio()),
                                     format_time(step.plain_time)));
  facts.add("overhead",
            fmt::format("{}, {}", format_time(step.step_time - step.plain_time), percent(step.ratio() - 1)));
  if (result.bounds) add_bound(facts, result);
  facts.add("peak demand",
            fmt::format("{} (before: {})", format_bytes(step.peak_demand), format_bytes(before)));
  if (result.packed)
    facts.add(
        "footprint",
        fmt::format(
            "{} by {}, {:.4f} x the load of {}{}", format_bytes(result.packed->layout.footprint),
            result.packed->algorithm, result.packed->layout.ratio(), format_bytes(result.packed->layout.load),
            result.packed->layout.footprint <= managed_limit(result.problem) ? "" : ", above the limit"));
  facts.add("decisions", fmt::format("{} swaps, {} of them clean; {} recomputes", counts.swaps, counts.clean,
                                     counts.recomputes));
  facts.add("waits", stalls_text(step));
  facts.add("moved", fmt::format("{} out, {} in", format_bytes(step.bytes_out), format_bytes(step.bytes_in)));
  if (counts.replayed_ops > 0)
    facts.add("recompute",
              fmt::format("{} in {} ops", format_time(step.recompute_time), counts.replayed_ops));
  facts.add("host memory", format_bytes(step.host_peak));
  for (const Finding& finding : result.judged.findings) facts.add(finding.name, finding_text(finding));
  if (result.judged.planning_seconds > 0)
    facts.add("planning", fmt::format("{:.3f} s, {} simulations", result.judged.planning_seconds,
                                      result.judged.evaluations));
  if (!result.plan_file.empty()) facts.add("plan", result.plan_file);
  const std::string rounds = rounds_table(result.judged.rounds, step.plain_time);
  return heading(result) + "\n" + facts.text() + (rounds.empty() ? "" : "\n" + rounds);
}

Json about(const PlanResult& result) {
  const auto limit = static_cast<double>(result.problem.limit);
  const Program& program = result.problem.program;
  return {{"trace", result.trace},
          {"program", program.info().name},
          {"machine", result.problem.machine.name},
          {"planner", result.planner},
          {"limit_bytes", result.problem.limit},
          {"limit_share", share(limit, static_cast<double>(program.peak_demand()))},
          {"peak_demand_before_bytes", program.peak_demand()},
          {"feasible", !result.judged.infeasible.has_value()}};
}

void add_step(Json& json, const PlanResult& result) {
  const StepResult& step = result.judged.step;
  const Counts counts = count(result.judged.lowered);
  json["step_ns"] = step.step_time;
  json["plain_ns"] = step.plain_time;
  json["ratio"] = step.ratio();
  json["overhead_ns"] = step.step_time - step.plain_time;
  json["periodic"] = step.periodic;
  json["peak_demand_bytes"] = step.peak_demand;
  json["peak_load_bytes"] = step.peak_load;
  for (std::size_t i = 0; i < kStallCauses; ++i)
    json["stalls_ns"][std::string(kStallNames[i])] = step.stalls[i];
  json["bytes_out"] = step.bytes_out;
  json["bytes_in"] = step.bytes_in;
  json["recompute_ns"] = step.recompute_time;
  json["host_peak_bytes"] = step.host_peak;
  for (const Finding& finding : result.judged.findings)
    json["findings"].push_back({{"name", finding.name}, {"value", finding.value}, {"unit", finding.unit}});
  for (const SearchRound& round : result.judged.rounds)
    json["rounds"].push_back({{"evaluations", round.evaluations},
                              {"best_ns", round.best},
                              {"mean_ns", round.mean},
                              {"worst_ns", round.worst}});
  if (result.packed)
    json["packing"] = {{"algorithm", result.packed->algorithm},
                       {"footprint_bytes", result.packed->layout.footprint},
                       {"load_bytes", result.packed->layout.load},
                       {"ratio", result.packed->layout.ratio()},
                       {"within_limit", result.packed->layout.footprint <= managed_limit(result.problem)}};
  json["swaps"] = counts.swaps;
  json["clean_swaps"] = counts.clean;
  json["recomputes"] = counts.recomputes;
  json["replayed_ops"] = counts.replayed_ops;
}

Json as_json(const PlanResult& result) {
  Json json = about(result);
  if (result.judged.infeasible)
    json["reason"] = reason_for(result.problem, *result.judged.infeasible);
  else
    add_step(json, result);
  if (result.bounds) json["bound"] = bound_json(*result.bounds, result.bounds->best(PlanKind::any));
  json["planning_seconds"] = result.judged.planning_seconds;
  json["evaluations"] = result.judged.evaluations;
  if (!result.smallest.empty()) json["smallest"] = result.smallest;
  if (!result.plan_file.empty()) json["plan_file"] = result.plan_file;
  return json;
}

}  // namespace

std::string reason_for(const PlanningProblem& problem, const Infeasible& infeasible) {
  if (auto reason = why_out_of_reach(problem.limit, problem.program)) return *reason;
  return infeasible.sentence(problem.program);
}

void check_schedule(const JudgedPlan& judged) {
  if (!judged.schedule.commands.empty() && !judged.violations.empty())
    throw std::logic_error(fmt::format("the schedule breaks a rule: {}", judged.violations.front().sentence));
}

Answer answer_for(const PlanResult& result, bool json) {
  const JudgedPlan& judged = result.judged;
  if (judged.infeasible) {
    const std::string reason = reason_for(result.problem, *judged.infeasible);
    const bool for_all = why_out_of_reach(result.problem.limit, result.problem.program).has_value();
    return {.text = json ? print(as_json(result)) : "",
            .complaint =
                for_all ? reason
                        : fmt::format("{} does not fit into {}: {}", result.planner,
                                      describe_limit(result.problem.limit, result.problem.program), reason),
            .code = ExitCode::does_not_fit};
  }
  check_schedule(judged);
  return {.text = json ? print(as_json(result)) : as_text(result)};
}

}  // namespace ebb::cli
