#include "torch/report.h"

#include "machine/presets.h"
#include "plan/plan_file.h"
#include "report/page.h"
#include "report/report.h"
#include "report/sparkline.h"
#include "report/timeline_json.h"
#include "trace/error.h"
#include "trace/iteration.h"
#include "trace/iteration_script.h"
#include "trace/trace.h"

namespace ebb::torch_adapter {
namespace {

constexpr const char* kLinks = "h200";  // where nothing has been copied yet, and so nothing measured

report::MeasuredStep measured_of(const Device& device) {
  report::MeasuredStep measured{.iterations = device.iterations()};
  if (const auto comparison = device.comparison()) {
    measured.step_time = comparison->measured_step;
    measured.timeline = comparison->measured;
  }
  return measured;
}

std::string page_of(const Program& program, const FollowedStep* followed, const Device& device, Bytes limit) {
  const Gaps gaps(program);
  const Machine machine = followed ? followed->machine : find_preset(kLinks);
  report::Report report{.program = &program, .gaps = &gaps};
  report.steps.push_back(report::plain_view(program, gaps, machine));
  if (followed && followed->plan) {
    report.steps.push_back(report::followed_view(program, *followed->plan, machine, limit));
    if (report::MeasuredStep measured = measured_of(device); measured.step_time > 0)
      report.steps.back().measured = std::move(measured);
  }
  return report::render_page(encode_report(report));
}

report::Json surprises_of(const Device& device) {
  report::Json all = report::Json::array();
  for (const Surprise& surprise : device.surprises())
    all.push_back({{"kind", name_of(surprise.kind)},
                   {"at", surprise.at},
                   {"op", surprise.op},
                   {"replay", surprise.replay},
                   {"bytes", surprise.bytes},
                   {"offset", surprise.offset},
                   {"wanted", {surprise.wanted, surprise.wanted_end}}});
  return all;
}

}  // namespace

std::string report_page(const Device& device, Bytes limit) {
  report::require_page();
  if (const auto followed = device.followed())
    return page_of(followed->iteration->program, &*followed, device, limit);
  const Trace trace = device.trace();
  if (trace.events.empty())
    throw InputError(
        "nothing is recorded without a planner unless it is asked for: ebb.limit(…, record=True)");
  return page_of(iteration_of(trace, "what was recorded so far"), nullptr, device, limit);
}

std::string report_parts(const Device& device, Bytes limit) {
  const auto followed = device.followed();
  if (!followed || !followed->plan || !device.comparison()) return "{}";
  const PreparedPlan& plan = *followed->plan;
  const std::string text = encode_plan({limit, followed->machine, plan.planner, plan.lowered.plan},
                                       followed->iteration->program, plan.gaps);
  return report::Json{{"plan", report::Json::parse(text)},
                      {"measured", encode_measured(measured_of(device))},
                      {"surprises", surprises_of(device)}}
      .dump(-1, ' ', false, report::Json::error_handler_t::replace);
}

Sparklines sparklines(const Device& device, std::size_t columns) {
  const auto followed = device.followed();
  if (!followed || !followed->plan) return {};
  const Program& program = followed->iteration->program;
  const PreparedPlan& plan = *followed->plan;
  return {report::sparkline(report::demand_by_column(program, columns), program.peak_demand()),
          report::sparkline(report::load_by_column(plan.timeline, plan.step.step_time, columns),
                            program.peak_demand())};
}

}  // namespace ebb::torch_adapter
