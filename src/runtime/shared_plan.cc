#include "runtime/shared_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "layout/validate.h"
#include "machine/machine_file.h"
#include "plan/lower.h"
#include "plan/plan_file.h"
#include "plan/validate.h"
#include "runtime/arena.h"
#include "trace/error.h"

namespace ebb {
namespace {

using Json = nlohmann::json;

struct Times {
  std::vector<Nanoseconds> durations;
  std::vector<Nanoseconds> issues;
};

Times times_of(const Program& program) {
  Times times;
  for (const Op& op : program.ops()) {
    times.durations.push_back(op.duration);
    times.issues.push_back(op.issue);
  }
  return times;
}

Nanoseconds total(const Times& times) {
  Nanoseconds sum = 0;
  for (const Nanoseconds duration : times.durations) sum += duration;
  return std::max(sum, times.issues.empty() ? 0 : times.issues.back());
}

Program with_times(const Program& program, const Times& times) {
  std::vector<Op> ops = program.ops();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].duration = times.durations[i];
    ops[i].issue = times.issues[i];
  }
  return Program::build(program.info(), std::move(ops), program.blocks());
}

void slow_down(Machine& machine, const Machine& other) {
  machine.bandwidth_out = std::min(machine.bandwidth_out, other.bandwidth_out);
  machine.bandwidth_in = std::min(machine.bandwidth_in, other.bandwidth_in);
  machine.op_issue = std::max(machine.op_issue, other.op_issue);
  machine.follow_issue = std::max(machine.follow_issue, other.follow_issue);
  machine.replay_issue = std::max(machine.replay_issue, other.replay_issue);
  machine.copy_issue = std::max(machine.copy_issue, other.copy_issue);
  machine.host_lead = std::max(machine.host_lead, other.host_lead);
  if (other.bandwidth_both > 0)
    machine.bandwidth_both =
        machine.bandwidth_both > 0 ? std::min(machine.bandwidth_both, other.bandwidth_both) : 0;
}

Json encode_schedule(const Schedule& schedule) {
  Json commands = Json::array();
  for (const Command& command : schedule.commands)
    commands.push_back({static_cast<int>(command.kind), command.op, command.gap, command.ended});
  return commands;
}

Schedule decode_schedule(const Json& commands) {
  Schedule schedule;
  for (const Json& command : commands) {
    const int kind = command.at(0).get<int>();
    if (kind < 0 || kind > static_cast<int>(CommandKind::drop)) throw InputError("no such command");
    schedule.commands.push_back({.kind = static_cast<CommandKind>(kind),
                                 .op = command.at(1).get<OpIndex>(),
                                 .gap = command.at(2).get<GapId>(),
                                 .ended = command.at(3).get<std::int32_t>()});
  }
  return schedule;
}

// Everything that follows from plan, schedule and offsets is made here, and judged.
std::shared_ptr<const PreparedPlan> prepare_again(const Json& text, const Program& program, Bytes capacity,
                                                  Bytes ground) {
  auto prepared = std::make_shared<PreparedPlan>(program);
  const Gaps& gaps = prepared->gaps;
  PlanRecord record = decode_plan(text.at("plan").dump(), "a plan that was told", program, gaps);
  if (Lowerer(program, gaps).lower(record.plan, capacity, prepared->lowered)) return nullptr;
  prepared->schedule = decode_schedule(text.at("schedule"));
  if (!validate(program, gaps, prepared->lowered, prepared->schedule, capacity).empty()) return nullptr;
  prepared->arena = layout::arena_problem(program, gaps, prepared->lowered, prepared->schedule);
  layout::Layout& layout = prepared->layout;
  layout.fits = true;
  layout.offsets = text.at("offsets").get<std::vector<Bytes>>();
  layout.footprint = text.at("footprint").get<Bytes>();
  layout.load = layout.lower_bound = text.at("load").get<Bytes>();
  const layout::PackOptions limits{.alignment = Arena::kAlignment,
                                   .capacity = capacity - program.info().unmanaged};
  if (prepared->arena.meets_itself || !layout::validate(prepared->arena.problem, layout, limits).empty())
    return nullptr;
  prepared->lie_above(ground, program, capacity);
  prepared->planner = record.planner;
  prepared->predicted_step = text.at("predicted_step").get<Nanoseconds>();
  prepared->planning_seconds = text.at("planning_seconds").get<double>();
  Schedule as_simulated;
  prepared->step = Simulator(program, gaps, record.machine)
                       .run(prepared->lowered, capacity, prepared->timeline, as_simulated);
  return prepared;
}

}  // namespace

std::string encode_times(const TimedStep& step) {
  const Times times = times_of(step.program);
  return Json{{"durations", times.durations},
              {"issues", times.issues},
              {"machine", Json::parse(to_json(step.machine))}}
      .dump();
}

std::optional<TimedStep> decode_times(const std::string& text, const Program& program) {
  try {
    const Json told = Json::parse(text);
    const Times times{told.at("durations").get<std::vector<Nanoseconds>>(),
                      told.at("issues").get<std::vector<Nanoseconds>>()};
    if (times.durations.size() != program.ops().size() || times.issues.size() != program.ops().size())
      return std::nullopt;
    return TimedStep{with_times(program, times),
                     parse_machine(told.at("machine").dump(), "a machine that was told")};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

TimedStep slowest_of(TimedStep step, const std::vector<std::string>& others) {
  for (const std::string& text : others) {
    std::optional<TimedStep> told = decode_times(text, step.program);
    if (!told) continue;
    slow_down(step.machine, told->machine);
    if (total(times_of(told->program)) > total(times_of(step.program)))
      step.program = std::move(told->program);
  }
  return step;
}

std::string encode_preparation(const Preparation& preparation, const TimedStep& step, Bytes capacity) {
  if (!preparation.plan) return Json{{"refusal", preparation.refusal}}.dump();
  const PreparedPlan& plan = *preparation.plan;
  const std::string text =
      encode_plan({capacity, step.machine, plan.planner, plan.lowered.plan}, step.program, plan.gaps);
  return Json{{"plan", Json::parse(text)},
              {"schedule", encode_schedule(plan.schedule)},
              {"offsets", plan.layout.offsets},
              {"footprint", plan.layout.footprint},
              {"load", plan.layout.load},
              {"predicted_step", plan.predicted_step},
              {"planning_seconds", plan.planning_seconds}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Preparation> decode_preparation(const std::string& text, const Program& program, Bytes capacity,
                                              Bytes ground) {
  try {
    const Json told = Json::parse(text);
    if (told.contains("refusal"))
      return Preparation{.plan = nullptr, .refusal = told.at("refusal").get<std::string>()};
    std::shared_ptr<const PreparedPlan> plan = prepare_again(told, program, capacity, ground);
    if (plan) return Preparation{.plan = std::move(plan), .refusal = {}};
  } catch (const std::exception&) {
    // A text of another version, or cut off: as if there were none.
  }
  return std::nullopt;
}

}  // namespace ebb
