#include "planners/mixed/swarm.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>

namespace ebb {
namespace {

constexpr std::int64_t kLeastPerParticle = 8;  // judgements; with fewer a swarm is only random search

class Swarm {
 public:
  Swarm(const PlanningProblem& problem, const std::vector<FeatureMap>& maps, const Choices& choices,
        const SwarmOptions& options)
      : choices_(choices),
        options_(options),
        judges_([&problem, &maps] { return PolicyJudge(problem, maps); }),
        arena_(std::clamp(options.threads, 1, oneapi::tbb::info::default_concurrency())),
        start_(std::chrono::steady_clock::now()) {
    std::int64_t count = options.particles;
    if (options.evaluations > 0) count = std::min(count, options.evaluations / kLeastPerParticle);
    count = std::max(count, std::int64_t{1});
    std::seed_seq seeds{options.seed, options.seed >> 32};
    std::vector<std::uint32_t> words(2 * static_cast<std::size_t>(count));
    seeds.generate(words.begin(), words.end());
    for (std::size_t i = 0; i < words.size(); i += 2)
      particles_.emplace_back(std::uint64_t{words[i]} << 32 | words[i + 1]);
  }

  SwarmResult run() {
    for_each([&](std::size_t i, PolicyJudge& judge) { particles_[i].start(first_policy(i), judge); });
    end_round();
    for (std::int64_t iteration = 0; iteration < options_.iterations; ++iteration) {
      const std::int64_t quota = quota_per_particle();
      if (quota == 0 || out_of_time()) break;
      const Policy leader = particles_[leader_].policy();
      for_each([&](std::size_t i, PolicyJudge& judge) {
        const bool improved = particles_[i].update(leader, judge, quota - 1);
        if (!improved && options_.scatter && i != leader_)
          particles_[i].start(particles_[i].draw_near(result_.best, choices_), judge);
      });
      const auto moves = static_cast<double>(particles_.size());
      result_.printed_evaluations += moves * (1 + 2 * static_cast<double>(choices_.size()));
      end_round();
      report(iteration);
    }
    return std::move(result_);
  }

 private:
  template <typename Function>
  void for_each(const Function& function) {
    arena_.execute([&] {
      oneapi::tbb::parallel_for(std::size_t{0}, particles_.size(), [&](std::size_t i) {
        if (!out_of_time() || particles_[i].policy().empty()) function(i, judges_.local());
      });
    });
  }

  // The corners of the space first: everything swapped, everything computed again; the rest at random.
  Policy first_policy(std::size_t i) {
    if (i > 1 || particles_.size() < 4) return particles_[i].draw(choices_);
    const Action wanted = i == 0 ? Action::swap : Action::recompute;
    Policy policy;
    for (const std::vector<Action>& actions : choices_)
      policy.push_back(std::find(actions.begin(), actions.end(), wanted) == actions.end() ? actions.back()
                                                                                          : wanted);
    return policy;
  }

  // Known before the particles move, so that the outcome does not depend on who moves first.
  std::int64_t quota_per_particle() const {
    if (options_.evaluations == 0) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t left = options_.evaluations - result_.evaluations;
    const std::int64_t quota = left / static_cast<std::int64_t>(particles_.size());
    return quota < kLeastPerParticle / 2 ? 0 : quota;
  }

  bool out_of_time() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    return options_.deadline_seconds > 0 && elapsed.count() > options_.deadline_seconds;
  }

  void end_round() {
    SearchRound round;
    std::int64_t fitting = 0;
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      const Particle& particle = particles_[i];
      if (particle.score() < particles_[leader_].score()) leader_ = i;
      if (particle.record_score() < result_.score || result_.best.empty()) {
        result_.best = particle.record();
        result_.score = particle.record_score();
      }
      if (!particle.score().fits()) continue;
      ++fitting;
      round.mean += particle.score().time;
      round.worst = std::max(round.worst, particle.score().time);
    }
    if (fitting > 0) round.mean /= fitting;
    round.best = result_.score.time;
    result_.evaluations = result_.simulated = 0;
    for (const PolicyJudge& judge : judges_) {
      result_.evaluations += judge.count();
      result_.simulated += judge.simulated();
    }
    round.evaluations = result_.evaluations;
    result_.rounds.push_back(round);
  }

  void report(std::int64_t iteration) const {
    if (!options_.progress) return;
    double fraction = static_cast<double>(iteration + 1) / static_cast<double>(options_.iterations);
    if (options_.evaluations > 0)
      fraction = std::max(
          fraction, static_cast<double>(result_.evaluations) / static_cast<double>(options_.evaluations));
    options_.progress({.fraction = fraction, .best = result_.score.time, .evaluations = result_.evaluations});
  }

  const Choices& choices_;
  const SwarmOptions& options_;
  oneapi::tbb::enumerable_thread_specific<PolicyJudge> judges_;
  oneapi::tbb::task_arena arena_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<Particle> particles_;
  std::size_t leader_ = 0;
  SwarmResult result_;
};

}  // namespace

SwarmResult search_swarm(const PlanningProblem& problem, const std::vector<FeatureMap>& maps,
                         const Choices& choices, const SwarmOptions& options) {
  return Swarm(problem, maps, choices, options).run();
}

}  // namespace ebb
