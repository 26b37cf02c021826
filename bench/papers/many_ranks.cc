// Data-parallel training on 8, 64 and 1,024 ranks, simulated: what limits and plans do to a step whose
// gradients are reduced over all ranks, how much of it an all-reduce that takes long hides, and what it costs
// if every rank makes its own plan, or begins to follow it at another time (docs/notes/distributed.md).
//
// Ranks differ as a whole, from iteration to iteration and op by op. Gradients are reduced in buckets of
// 25 MiB while backward runs, each when the last rank has it; the update waits for the last bucket.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

#include "machine/presets.h"
#include "plan/lower.h"
#include "planners/planner.h"
#include "simulate/simulator.h"
#include "trace/load.h"

namespace {

using namespace ebb;

constexpr int kRanks[] = {8, 64, 1024};
constexpr double kCommunication[] = {0.25, 1.0, 1.5};  // all-reduce ÷ compute of a plain step
constexpr int kPercent = 60;                           // of the peak demand
constexpr Bytes kBucket = 25 * kMiB;
constexpr Nanoseconds kHop = 5'000;  // latency; a tree has two a level
constexpr double kBetweenRanks = 0.01, kBetweenIterations = 0.01, kBetweenOps = 0.03;  // standard deviations
constexpr int kIterations = 2;                                                         // sampled
constexpr int kPlans = 8;                     // where every rank has its own, these are dealt out
constexpr std::int64_t kEvaluations = 2'000;  // of each plan

double milliseconds(double nanoseconds) { return nanoseconds / 1e6; }

Program stretched(const Program& program, std::mt19937_64& random, double factor, double op_deviation) {
  std::normal_distribution<double> noise(0, op_deviation);
  std::vector<Op> ops = program.ops();
  for (Op& op : ops) {
    op.duration =
        static_cast<Nanoseconds>(static_cast<double>(op.duration) * factor * std::exp(noise(random)));
    op.issue = 0;
  }
  return Program::build(program.info(), std::move(ops), program.blocks());
}

// A rank's own speed, and one iteration on it.
double speed_of(int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  return std::exp(std::normal_distribution<double>(0, kBetweenRanks)(random));
}

Program measured_on(const Program& program, int rank, int iteration) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) * 7919 +
                         static_cast<std::uint64_t>(iteration) * 104729 + 17);
  const double factor = std::exp(std::normal_distribution<double>(0, kBetweenIterations)(random));
  return stretched(program, random, speed_of(rank) * factor, kBetweenOps);
}

// The op after which a bucket's gradients are there, and its bytes.
struct Bucket {
  OpIndex ready = 0;
  Bytes bytes = 0;
};

// A gradient is written going backward and read by the update.
std::vector<Bucket> buckets_of(const Program& program, OpIndex& last_backward) {
  std::vector<Bucket> gradients;
  last_backward = 0;
  for (OpIndex i = 0; i < program.op_count(); ++i)
    if (program.op(i).phase == Phase::backward) last_backward = i;
  for (BlockId b = 0; b < program.block_count(); ++b) {
    OpIndex written = kNoOp;
    bool updates = false;
    for (const BlockAccess& access : program.accesses(b)) {
      const Phase phase = program.op(access.op).phase;
      if (phase == Phase::backward && access.writes) written = access.op;
      updates |= phase == Phase::update && access.reads;
      if (phase == Phase::forward) written = kNoOp, updates = false;
    }
    if (written != kNoOp && updates) gradients.push_back({written, program.block(b).bytes});
  }
  std::sort(gradients.begin(), gradients.end(),
            [](const Bucket& a, const Bucket& b) { return a.ready < b.ready; });
  std::vector<Bucket> buckets;
  for (const Bucket& gradient : gradients) {
    if (buckets.empty() || buckets.back().bytes >= kBucket) buckets.push_back({});
    buckets.back().ready = gradient.ready;
    buckets.back().bytes += gradient.bytes;
  }
  return buckets;
}

// When each bucket and backward are done on a rank, and how long the rest of the step takes.
struct RankStep {
  std::vector<Nanoseconds> ready;
  Nanoseconds backward = 0;
  Nanoseconds rest = 0;
};

class Study {
 public:
  Study(const Program& program, const Machine& machine)
      : program_(program), machine_(machine), gaps_(program), buckets_(buckets_of(program, last_backward_)) {
    for (const Bucket& bucket : buckets_) gradient_bytes_ += bucket.bytes;
  }

  Bytes gradient_bytes() const { return gradient_bytes_; }
  std::size_t buckets() const { return buckets_.size(); }

  std::optional<Plan> plan_for(const Program& measured, Bytes limit, const char* planner) const {
    PlanningResult made =
        find_planner(planner).plan({measured, gaps_, machine_, limit}, {.evaluations = kEvaluations});
    if (made.infeasible) return std::nullopt;
    return std::move(made.plan);
  }

  RankStep step_of(int rank, int iteration, const Plan& plan, Bytes limit) const {
    const Program measured = measured_on(program_, rank, iteration);
    LoweredPlan lowered;
    Timeline timeline;
    Schedule schedule;
    if (Lowerer(measured, gaps_).lower(plan, limit, lowered))
      throw std::runtime_error("a plan that cannot be lowered");
    const StepResult step = Simulator(measured, gaps_, machine_).run(lowered, limit, timeline, schedule);
    std::vector<Nanoseconds> ends(static_cast<std::size_t>(program_.op_count()), 0);
    for (const Span& span : timeline.spans)
      if (span.lane == Lane::compute && !span.replay) ends[static_cast<std::size_t>(span.op)] = span.end;
    RankStep result;
    for (const Bucket& bucket : buckets_)
      result.ready.push_back(ends[static_cast<std::size_t>(bucket.ready)]);
    result.backward = ends[static_cast<std::size_t>(last_backward_)];
    result.rest = step.step_time - result.backward;
    return result;
  }

  // Plan r % plans.size() is rank r's. Mean over iterations, in nanoseconds.
  double step_of_all(int ranks, double communication, const std::vector<Plan>& plans, Bytes limit) {
    const double seconds_per_byte =
        communication * static_cast<double>(program_.compute_time()) / static_cast<double>(gradient_bytes_);
    const Nanoseconds latency = 2 * kHop * static_cast<Nanoseconds>(std::ceil(std::log2(ranks)));
    double sum = 0;
    for (int i = 0; i < kIterations; ++i) {
      std::vector<Nanoseconds> ready(buckets_.size(), 0);
      Nanoseconds backward = 0, rest = 0;
      for (int r = 0; r < ranks; ++r) {
        const RankStep step = cached(r, i, plans[static_cast<std::size_t>(r) % plans.size()], limit);
        for (std::size_t b = 0; b < ready.size(); ++b) ready[b] = std::max(ready[b], step.ready[b]);
        backward = std::max(backward, step.backward);
        rest = std::max(rest, step.rest);
      }
      Nanoseconds end = 0;
      for (std::size_t b = 0; b < ready.size(); ++b) {
        const double bytes = static_cast<double>(buckets_[b].bytes);
        end = std::max(end, ready[b]) + latency + static_cast<Nanoseconds>(bytes * seconds_per_byte);
      }
      sum += static_cast<double>(std::max(end, backward) + rest);
    }
    return sum / kIterations;
  }

  // A line of the table: step times with these plans, in ms and relative to `plain`, by ranks and
  // communication.
  std::vector<double> times(const std::vector<Plan>& plans, Bytes limit) {
    cache_.clear();
    std::vector<double> times;
    for (const int ranks : kRanks)
      for (const double communication : kCommunication)
        times.push_back(step_of_all(ranks, communication, plans, limit));
    return times;
  }

 private:
  const RankStep& cached(int rank, int iteration, const Plan& plan, Bytes limit) {
    const auto [it, is_new] = cache_.try_emplace({rank, iteration});
    if (is_new) it->second = step_of(rank, iteration, plan, limit);
    return it->second;
  }

  const Program& program_;
  const Machine& machine_;
  Gaps gaps_;
  OpIndex last_backward_ = 0;
  std::vector<Bucket> buckets_;
  Bytes gradient_bytes_ = 0;
  std::map<std::pair<int, int>, RankStep> cache_;  // of one set of plans
};

void print_line(const char* name, const std::vector<double>& times, const std::vector<double>& plain) {
  fmt::print("| {} |", name);
  for (std::size_t i = 0; i < times.size(); ++i)
    fmt::print(" {:.1f}{} |", milliseconds(times[i]),
               &times == &plain ? "" : fmt::format(" ({:.3f})", times[i] / plain[i]));
  fmt::print("\n");
}

// Two ranks on one link: what a plan costs that does not know it.
void print_shared_link(const Program& program, const Program& slowest, const Machine& machine, Bytes limit) {
  Machine half = machine;
  for (Bytes* bandwidth : {&half.bandwidth_out, &half.bandwidth_in, &half.bandwidth_both}) *bandwidth /= 2;
  const std::optional<Plan> alone = Study(program, machine).plan_for(slowest, limit, "ebb");
  const std::optional<Plan> together = Study(program, half).plan_for(slowest, limit, "ebb");
  if (!alone || !together) return;
  const auto time = [&](const Plan& plan) {
    return milliseconds(Study(program, half).step_of_all(8, kCommunication[0], {plan}, limit));
  };
  fmt::print(
      "\nOn 8 ranks of which two share a link, with communication of {}: {:.1f} ms by a plan for the whole "
      "link, "
      "{:.1f} ms by a plan for half of it.\n",
      kCommunication[0], time(*alone), time(*together));
}

void print_study(const std::string& name, const Program& program, const Machine& machine) {
  Study study(program, machine);
  const Bytes peak = program.peak_demand();
  const Bytes limit = peak / 100 * kPercent;
  std::vector<Program> measured;
  for (int rank = 0; rank < kPlans; ++rank) measured.push_back(measured_on(program, rank, kIterations));
  const auto slowest = std::max_element(
      measured.begin(), measured.end(),
      [](const Program& a, const Program& b) { return a.compute_time() < b.compute_time(); });
  std::vector<Plan> own;
  for (const Program& one : measured)
    if (std::optional<Plan> plan = study.plan_for(one, limit, "ebb")) own.push_back(std::move(*plan));
  const std::optional<Plan> keep = study.plan_for(program, peak, "keep");
  const std::optional<Plan> shared = study.plan_for(*slowest, limit, "ebb");
  const std::optional<Plan> demand = study.plan_for(program, limit, "ondemand");
  if (!keep || !shared || own.size() != measured.size()) {
    fmt::print("{}: no plan at {} % of the peak\n", name, kPercent);
    return;
  }
  fmt::print("\n### {}, {} % of its peak of {:.2f} GiB on {}: {} MiB of gradients in {} buckets\n\n", name,
             kPercent, static_cast<double>(peak) / static_cast<double>(kGiB), machine.name,
             study.gradient_bytes() / kMiB, study.buckets());
  fmt::print("| step in ms (÷ plain) |");
  for (const int ranks : kRanks)
    for (const double communication : kCommunication) fmt::print(" {} ranks, {} |", ranks, communication);
  fmt::print("\n|---|");
  for (std::size_t i = 0; i < std::size(kRanks) * std::size(kCommunication); ++i) fmt::print("---|");
  fmt::print("\n");
  const std::vector<double> plain = study.times({*keep}, peak);
  print_line("no limit", plain, plain);
  print_line("one plan, by the slowest of eight", study.times({*shared}, limit), plain);
  print_line("a plan per rank", study.times(own, limit), plain);
  if (demand) print_line("on demand", study.times({*demand}, limit), plain);
  const double settling =
      static_cast<double>(program.load().front()) *
      (1e9 / static_cast<double>(machine.bandwidth_out) + 1e9 / static_cast<double>(machine.bandwidth_in));
  fmt::print(
      "\nBeginning to follow a plan moves at most {} MiB out and in, {:.1f} ms: once if all ranks begin "
      "together; ",
      program.load().front() / kMiB, milliseconds(settling));
  fmt::print("if each begins in an iteration of its own, {:.1f} s on 64 ranks and {:.1f} s on 1,024.\n",
             64 * settling / 1e9, 1024 * settling / 1e9);
  print_shared_link(program, *slowest, machine, limit);
}

}  // namespace

int main() {
  const Machine machine = find_preset("h200");
  for (const char* name : {"resnet50", "gpt2"})
    print_study(name, load_program(std::string(EBB_SOURCE_DIR) + "/data/" + name + ".json.gz"), machine);
  return 0;
}
