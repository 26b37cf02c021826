#include "simulate/simulator.h"

#include <algorithm>
#include <limits>

#include "simulate/compiled_plan.h"
#include "simulate/event_loop.h"

namespace ebb {
namespace {

constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max() / 2;
constexpr int kMostIterations = 4;

}  // namespace

bool StepResult::operator==(const StepResult& other) const {
  if (infeasible.has_value() || other.infeasible.has_value())
    return infeasible.has_value() == other.infeasible.has_value() &&
           infeasible->obstacle == other.infeasible->obstacle;
  return step_time == other.step_time && plain_time == other.plain_time && iterations == other.iterations &&
         periodic == other.periodic && stalls == other.stalls && recompute_time == other.recompute_time &&
         bytes_out == other.bytes_out && bytes_in == other.bytes_in && peak_load == other.peak_load &&
         peak_demand == other.peak_demand && host_peak == other.host_peak;
}

// What is asked before the clock runs, and the search for a steady state: iterations until the state at the
// boundary repeats.
class Simulator::Engine {
 public:
  Engine(const Program& program, const Gaps& gaps, const Machine& machine)
      : program_(program),
        machine_(machine),
        compiler_(program, gaps, machine_),
        loop_(program, machine_),
        plain_(plain_step(program, machine)) {}

  template <bool kRecord>
  StepResult run(const LoweredPlan& plan, Bytes limit, const AddressGates* gates, Timeline* timeline,
                 Schedule* schedule) {
    StepResult result;
    result.infeasible = check_room(plan, limit);
    if (result.infeasible) return result;
    compiler_.compile(plan, gates, compiled_);
    loop_.start(compiled_, gates == nullptr ? limit : kNoLimit, timeline, schedule);
    find_steady_state<kRecord>(result, schedule);
    if (result.infeasible) return result;
    if constexpr (kRecord) loop_.end_open_spans();
    result.plain_time = plain_;
    result.stalls = loop_.costs().stalls;
    for (const Item& item : compiled_.items)
      if (item.replay) result.recompute_time += item.duration;
    result.bytes_out = loop_.costs().bytes_out;
    result.bytes_in = loop_.costs().bytes_in;
    result.peak_load = loop_.costs().peak_load;
    result.peak_demand = loop_.costs().peak_demand;
    result.host_peak = plan.host_peak;
    return result;
  }

 private:
  std::optional<Infeasible> check_room(const LoweredPlan& plan, Bytes limit) const;
  template <bool kRecord>
  void find_steady_state(StepResult& result, Schedule* schedule);

  const Program& program_;
  const Machine machine_;
  PlanCompiler compiler_;
  CompiledPlan compiled_;
  EventLoop loop_;
  const Nanoseconds plain_;
};

std::optional<Infeasible> Simulator::Engine::check_room(const LoweredPlan& plan, Bytes limit) const {
  for (OpIndex j = 0; j < program_.op_count(); ++j)
    if (const Bytes need = plan.need[static_cast<std::size_t>(j)]; need > limit)
      return Infeasible{Obstacle::too_large, j, -1, need, limit, ""};
  const Bytes host = machine_.host_bytes;
  if (host > 0 && plan.host_peak > host)
    return Infeasible{Obstacle::host_full, kNoOp, -1, plan.host_peak, host, ""};
  return std::nullopt;
}

template <bool kRecord>
void Simulator::Engine::find_steady_state(StepResult& result, Schedule* schedule) {
  BoundaryState previous = loop_.boundary_state();
  Nanoseconds start = 0, first_end = 0;
  while (!result.periodic && result.iterations < kMostIterations) {
    start = loop_.now();
    result.infeasible = loop_.run_iteration<kRecord>();
    if (result.infeasible) return;
    const BoundaryState state = loop_.boundary_state();
    if constexpr (kRecord)
      if (!state.same_order(previous)) schedule->commands.clear();
    if (++result.iterations == 1) first_end = loop_.now();
    result.periodic = state == previous;
    previous = state;
  }
  const Nanoseconds end = loop_.now();
  result.step_time = result.periodic ? end - start : (end - first_end) / (kMostIterations - 1);
}

Simulator::Simulator(const Program& program, const Gaps& gaps, const Machine& machine)
    : engine_(std::make_unique<Engine>(program, gaps, machine)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

StepResult Simulator::run(const LoweredPlan& plan, Bytes limit) {
  return engine_->run<false>(plan, limit, nullptr, nullptr, nullptr);
}

StepResult Simulator::run(const LoweredPlan& plan, Bytes limit, Timeline& timeline, Schedule& schedule) {
  return engine_->run<true>(plan, limit, nullptr, &timeline, &schedule);
}

StepResult Simulator::run(const LoweredPlan& plan, Bytes limit, const AddressGates& gates, Timeline& timeline,
                          Schedule& schedule) {
  return engine_->run<true>(plan, limit, &gates, &timeline, &schedule);
}

}  // namespace ebb
