#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "machine/units.h"
#include "report/step_view.h"

namespace ebb::report {
namespace {

struct Part {
  Nanoseconds time = 0;
  std::string sentence;
};

std::string share_of(Nanoseconds part, Nanoseconds whole) {
  return fmt::format(
      "{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(std::max<Nanoseconds>(whole, 1)));
}

std::string links(const Machine& machine) {
  return fmt::format("the links carry {} out and {} in", format_bandwidth(machine.bandwidth_out),
                     format_bandwidth(machine.bandwidth_in));
}

// What the extra time goes to, most first.
std::vector<Part> parts_of(const StepView& view) {
  const StepResult& step = view.step;
  const Nanoseconds extra = step.step_time - step.plain_time;
  const auto stall = [&](StallCause cause) { return step.stalls[static_cast<std::size_t>(cause)]; };
  Nanoseconds known = step.recompute_time;
  for (const Nanoseconds time : step.stalls) known += time;
  const auto part = [&](Nanoseconds time, std::string_view what) {
    return Part{time, fmt::format("{}: {} of {} extra ({})", what, format_time(time), format_time(extra),
                                  share_of(time, extra))};
  };
  std::vector<Part> parts = {
      part(step.recompute_time,
           fmt::format("Recomputation limits this step, {} ops run again", view.lowered.replays.size())),
      part(stall(StallCause::copy_in),
           "The link to the device limits this step, ops wait for what has to come back; " +
               links(view.machine)),
      part(stall(StallCause::room),
           "The link to the host limits this step, ops wait for others' memory to leave; " +
               links(view.machine)),
      part(stall(StallCause::sync),
           "The link to the host limits this step, ops wait for copies out as planned; " +
               links(view.machine)),
      part(stall(StallCause::issue), "The host limits this step: ops are issued late"),
      part(extra - known, "Copies beside compute slow it down")};
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.time > b.time; });
  return parts;
}

}  // namespace

std::string what_limits(const Program& program, const StepView& view) {
  const StepResult& step = view.step;
  const Nanoseconds extra = step.step_time - step.plain_time;
  if (view.planner.empty())
    return fmt::format("Nothing limits this step: it runs as recorded and peaks at {} in op {}, {}.",
                       format_bytes(program.peak_demand()), program.peak_op(),
                       program.op(program.peak_op()).name);
  if (view.limit >= program.peak_demand())
    return fmt::format("The limit is not below the peak of {}: nothing has to move.",
                       format_bytes(program.peak_demand()));
  std::string text;
  if (2000 * extra < step.plain_time)
    text = "Nothing limits this step: what moves does so beside compute, at no cost in time";
  else
    text = parts_of(view).front().sentence;
  if (view.bound && *view.bound < step.step_time)
    text += fmt::format(". No plan can be more than {:.1f} % faster",
                        100 * (1 - static_cast<double>(*view.bound) / static_cast<double>(step.step_time)));
  else if (view.bound)
    text += ". No plan can be faster";
  return text + ".";
}

}  // namespace ebb::report
