#include "planners/dqn/learning.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "planners/dqn/environment.h"
#include "planners/dqn/network.h"

namespace ebb::dqn {
namespace {

constexpr std::size_t kMemory = 20'000;  // transitions kept for replay
constexpr double kKnowingEpsilon = 0.3;
constexpr double kRateDecay = 0.9;  // of the learning rate, from the first episode to the last

struct Transition {
  std::vector<int> valid;
  int current = 0;
  int action = 0;
  double reward = 0;
  bool last = false;
  std::vector<int> next_actions;  // node 0 among them if doing nothing is legal
  int next = 0;
};

double setting(std::string_view name, const PlannerOptions& options) {
  const auto found = std::find_if(kSettings.begin(), kSettings.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return value_of(*found, options);
}

int count(std::string_view name, const PlannerOptions& options) {
  return static_cast<int>(std::clamp(setting(name, options), 1.0, 1e6));
}

std::span<const int> without_nothing(std::span<const int> actions) {
  return !actions.empty() && actions.front() == 0 ? actions.subspan(1) : actions;
}

class Learner {
 public:
  Learner(const PlanningProblem& problem, const PlannerOptions& options,
          const std::vector<Variable>& variables, MakeTrainer make)
      : options_(options),
        variable_count_(variables.size()),
        graph_(problem, variables, options),
        environment_(problem, variables, graph_),
        weights_(options.knowledge.empty() ? Weights::random(count("width", options), options.seed)
                                           : parse_weights(options.knowledge)),
        acting_(graph_, weights_),
        looking_ahead_(graph_, weights_),
        trainer_(make(graph_, weights_)),
        random_(options.seed),
        start_(std::chrono::steady_clock::now()) {
    unit_ = -environment_.dead_end() / static_cast<double>(variables.size());
    const bool given = options.settings.contains("epsilon");
    epsilon_ = options.knowledge.empty() || given ? setting("epsilon", options) : kKnowingEpsilon;
  }

  // `known` is the step time of the result's plan; 0: it is none.
  PlanningResult run(PlanningResult result, Nanoseconds known) {
    result_ = std::move(result);
    best_ = known;
    const std::int64_t episodes =
        options_.evaluations > 0 ? options_.evaluations : count("episodes", options_);
    for (std::int64_t episode = 1; episode <= episodes && !is_done(); ++episode) {
      const double share = static_cast<double>(episode) / static_cast<double>(episodes);
      rate_ = setting("rate", options_) * (1 - kRateDecay * share);
      run_episode(epsilon_ * (1 - share));
      record_episode();
      if (options_.progress) options_.progress({share, best_, environment_.evaluations()});
    }
    result_.evaluations += environment_.evaluations();
    result_.knowledge = to_text(trainer_->weights());
    result_.findings = {{"variables", static_cast<double>(variable_count_), ""},
                        {"nodes", static_cast<double>(graph_.size()), ""},
                        {"episodes", static_cast<double>(result_.rounds.size()), ""},
                        {"dead ends", static_cast<double>(dead_ends_), ""},
                        {"actions", static_cast<double>(actions_), ""},
                        {"updates", static_cast<double>(updates_), ""}};
    return std::move(result_);
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  std::size_t index_below(std::size_t count) {
    return std::min(static_cast<std::size_t>(uniform() * static_cast<double>(count)), count - 1);
  }

  // Nothing can be better than a plan that costs nothing.
  bool is_done() const {
    const bool perfect = best_ > 0 && best_ <= plain_;
    return out_of_time() || (perfect && setting("practice", options_) == 0);
  }

  bool out_of_time() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    return options_.deadline_seconds > 0 && elapsed.count() > options_.deadline_seconds;
  }

  void run_episode(double epsilon) {
    environment_.reset();
    while (!environment_.finished() && !out_of_time()) {
      Transition now{.valid = {}, .current = environment_.node(), .next_actions = {}};
      now.valid.assign(environment_.valid().begin(), environment_.valid().end());
      now.action = choose(epsilon);
      now.reward = environment_.act(now.action) / unit_;
      now.last = environment_.finished();
      if (!now.last) {
        now.next = environment_.node();
        now.next_actions.assign(environment_.actions().begin(), environment_.actions().end());
      }
      remember(std::move(now));
      if (++actions_ % count("every", options_) == 0) learn();
    }
  }

  int choose(double epsilon) {
    const std::span<const int> actions = environment_.actions();
    if (uniform() < epsilon) return actions[index_below(actions.size())];
    acting_.set_valid(environment_.valid());
    return acting_.best(environment_.node(), actions).action;
  }

  void remember(Transition transition) {
    if (memory_.size() < kMemory)
      memory_.push_back(std::move(transition));
    else
      memory_[static_cast<std::size_t>(actions_) % kMemory] = std::move(transition);
  }

  // Eq. 5; y is a constant: no gradient flows through it. No value can lie above 0 or below a dead end, so
  // errors of the network do not feed on themselves.
  double target(const Transition& transition) {
    if (transition.last) return transition.reward;
    looking_ahead_.set_valid(without_nothing(transition.next_actions));
    const double next = looking_ahead_.best(transition.next, transition.next_actions).q;
    return transition.reward +
           setting("gamma", options_) * std::clamp(next, environment_.dead_end() / unit_, 0.0);
  }

  void learn() {
    const auto batch = static_cast<std::size_t>(count("batch", options_));
    if (memory_.size() < batch) return;
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < batch; ++i) {
      const Transition& transition = memory_[index_below(memory_.size())];
      samples.push_back({transition.valid, transition.current, transition.action, target(transition)});
    }
    trainer_->fit(samples, rate_);
    ++updates_;
    const Weights learnt = trainer_->weights();
    acting_.set_weights(learnt);
    looking_ahead_.set_weights(learnt);
  }

  void record_episode() {
    if (!environment_.finished()) return;
    SearchRound round{.evaluations = environment_.evaluations()};
    if (const auto& outcome = environment_.outcome()) {
      round.mean = round.worst = outcome->step_time;
      plain_ = outcome->plain_time;
      if (best_ == 0 || outcome->step_time < best_) {
        result_.plan = environment_.plan();
        result_.infeasible.reset();
        best_ = outcome->step_time;
      }
    } else {
      ++dead_ends_;
    }
    round.best = best_;
    result_.rounds.push_back(round);
  }

  const PlannerOptions& options_;
  const std::size_t variable_count_;
  Graph graph_;
  Environment environment_;
  Weights weights_;
  Network acting_, looking_ahead_;
  std::unique_ptr<Trainer> trainer_;
  std::mt19937_64 random_;
  const std::chrono::steady_clock::time_point start_;
  double epsilon_ = 1, rate_ = 0;
  double unit_ = 1;  // of rewards: a dead end per variable, so that they are alike on every step
  std::vector<Transition> memory_;
  std::int64_t actions_ = 0, updates_ = 0, dead_ends_ = 0;
  Nanoseconds best_ = 0, plain_ = 0;
  PlanningResult result_;
};

}  // namespace

PlanningResult plan_dqn(const PlanningProblem& problem, const PlannerOptions& options, MakeTrainer make) {
  Evaluator evaluate(problem);
  PlanningResult result{.plan = Plan::keep_all(problem.gaps)};
  StepResult kept = evaluate(result.plan);
  result.infeasible = kept.infeasible;
  result.evaluations = 1;
  result.knowledge = options.knowledge;
  if (!kept.infeasible) return result;
  const std::vector<Variable> variables = find_variables(
      problem, options, {.most = count("variables", options), .coverage = setting("coverage", options)});
  if (variables.empty()) return result;
  Nanoseconds incumbent = 0;
  if (options.start) {
    const StepResult started = evaluate(*options.start);
    ++result.evaluations;
    if (!started.infeasible) {
      result.plan = *options.start;
      result.infeasible.reset();
      incumbent = started.step_time;
    }
  }
  return Learner(problem, options, variables, make).run(std::move(result), incumbent);
}

}  // namespace ebb::dqn
