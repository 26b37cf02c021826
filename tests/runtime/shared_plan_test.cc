#include "runtime/shared_plan.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "backend/null/null_backend.h"
#include "literal_programs.h"
#include "runtime/plan_exchange.h"
#include "runtime/program_runner.h"

namespace ebb::testing {
namespace {

constexpr int kLayers = 6;

Program chain(Bytes bytes, Nanoseconds time = 1000) { return chain_of_layers(kLayers, bytes, time); }

Machine links(Bytes bandwidth) {
  return {.name = "links", .bandwidth_out = bandwidth, .bandwidth_in = bandwidth};
}

Preparation prepared(const Program& program, Bytes capacity) {
  return prepare_plan(program, links(1'000'000'000), {.planner = "ebb", .capacity = capacity});
}

TEST(SharedPlanTest, APlanIsTheSameOnTheOtherSide) {
  const Program program = chain(4096);
  const Bytes capacity = 5 * 4096;
  const Preparation made = prepared(program, capacity);
  ASSERT_TRUE(made.plan) << made.refusal;
  const std::string text = encode_preparation(made, {program, links(1'000'000'000)}, capacity);
  const std::optional<Preparation> taken = decode_preparation(text, chain(4096, 77), capacity, 0);
  ASSERT_TRUE(taken && taken->plan);
  EXPECT_EQ(taken->plan->lowered.plan, made.plan->lowered.plan);
  EXPECT_EQ(taken->plan->schedule, made.plan->schedule);
  EXPECT_EQ(taken->plan->layout.offsets, made.plan->layout.offsets);
  EXPECT_EQ(taken->plan->offsets.returns, made.plan->offsets.returns);
  EXPECT_EQ(taken->plan->planner, made.plan->planner);
  EXPECT_EQ(taken->plan->predicted_step, made.plan->predicted_step);
}

TEST(SharedPlanTest, ARefusalIsPassedOn) {
  const Program program = chain(4096);
  const std::string text =
      encode_preparation({.plan = nullptr, .refusal = "no room"}, {program, links(1)}, 1);
  const std::optional<Preparation> taken = decode_preparation(text, program, 1, 0);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->refusal, "no room");
}

TEST(SharedPlanTest, WhatDoesNotFitIsNotTaken) {
  const Program program = chain(4096);
  const Bytes capacity = 5 * 4096;
  const std::string text =
      encode_preparation(prepared(program, capacity), {program, links(1'000'000'000)}, capacity);
  EXPECT_FALSE(decode_preparation(text.substr(0, text.size() / 2), program, capacity, 0));
  EXPECT_FALSE(decode_preparation("", program, capacity, 0));
  EXPECT_FALSE(decode_preparation("{}", program, capacity, 0));
  EXPECT_FALSE(decode_preparation(text, chain(8192), capacity, 0)) << "another program";
  EXPECT_FALSE(decode_preparation(text, program, 3 * 4096, 0)) << "a smaller arena";
}

TEST(SharedPlanTest, TimesAreTheSlowestRanksAndLinksTheSlowest) {
  const std::vector<std::string> others{encode_times({chain(4096, 500), links(10)}),
                                        encode_times({chain(4096, 3000), links(30)}), "nonsense"};
  const TimedStep step = slowest_of({chain(4096, 1000), links(20)}, others);
  EXPECT_EQ(step.program.op(3).duration, 3000);
  EXPECT_EQ(step.machine.bandwidth_in, 10);
  EXPECT_EQ(slowest_of({chain(4096, 9000), links(20)}, others).program.op(3).duration, 9000);
}

// Two devices in one process: who asks first plans, and both may follow when both are ready.
class Meeting final : public PlanExchange {
 public:
  bool has_others() override { return true; }
  ExchangeAnswer ask(const std::string& key, const std::string& measured,
                     const std::function<bool()>& stop) override {
    std::unique_lock lock(mutex_);
    if (askers_[key]++ == 0) return {.plan_here = true};
    EXPECT_FALSE(measured.empty());
    while (!plans_.contains(key) && !stop()) changed_.wait_for(lock, std::chrono::milliseconds(10));
    return {.plan_here = false, .plan = plans_[key]};
  }
  void give(const std::string& key, const std::string& plan) override {
    const std::lock_guard lock(mutex_);
    plans_[key] = plan;
    changed_.notify_all();
  }
  bool may_follow(const std::string&) override { return may_follow_; }

  bool may_follow_ = false;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> askers_;
  std::map<std::string, std::string> plans_;
};

TEST(SharedPlanTest, OneDevicePlansAndTheOtherFollowsItsPlan) {
  const auto meeting = std::make_shared<Meeting>();
  const Program program = chain(8);
  NullBackend backends[2];
  std::optional<Device> devices[2];
  std::optional<ProgramRunner> runners[2];
  for (int i = 0; i < 2; ++i) {
    devices[i].emplace(backends[i], DeviceOptions{.limit = 40 * 512,
                                                  .mode = Mode::planned,
                                                  .smallest_managed = 512,
                                                  .host_slab = 64 * kKiB,
                                                  .exchange = meeting});
    runners[i].emplace(*devices[i], program);
  }
  const auto both = [&](const auto& holds) { return holds(*devices[0]) && holds(*devices[1]); };
  const auto iterate_until = [&](const auto& holds) {
    for (int i = 0; i < 5000 && !both(holds); ++i)
      for (int r = 0; r < 2; ++r)
        runners[r]->iterate(), std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  iterate_until([](const Device& device) { return !device.status().planner.empty(); });
  for (int i = 0; i < 10; ++i)
    for (auto& runner : runners) runner->iterate();
  EXPECT_TRUE(both([](const Device& device) { return device.status().mode == Mode::reactive; }));
  meeting->may_follow_ = true;
  iterate_until([](const Device& device) { return device.status().planned_iterations > 3; });
  EXPECT_TRUE(both([](const Device& device) { return device.status().mode == Mode::planned; }));
  EXPECT_EQ(devices[0]->status().plans_made + devices[1]->status().plans_made, 1);
  EXPECT_EQ(devices[0]->status().plans_taken + devices[1]->status().plans_taken, 1);
  for (auto& runner : runners) EXPECT_EQ(runner->wrong_reads(), 0);
}

}  // namespace
}  // namespace ebb::testing
