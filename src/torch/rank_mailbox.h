// The exchange of plans between ranks, seen from one of them: planner and conductor leave errands here, and a
// thread of the Python package, the messenger, carries them to the process group's store and brings answers
// (python/ebb/ranks.py). While no messenger is connected everybody plans alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/plan_exchange.h"

namespace ebb::torch_adapter {

struct Errand {
  enum class Kind : char { ask, give, ready };
  Kind kind = Kind::ask;
  std::string key = {};
  std::string text = {};           // ask: what was measured; give: the plan
  std::int64_t per_iteration = 0;  // ready: collectives
};

class RankMailbox final : public PlanExchange {
 public:
  // The one of this process.
  static RankMailbox& instance();

  bool has_others() override;
  ExchangeAnswer ask(const std::string& key, const std::string& measured,
                     const std::function<bool()>& stop) override;
  void give(const std::string& key, const std::string& plan) override;
  bool may_follow(const std::string& key) override;

  // A collective was issued: the clock that ranks have in common.
  void tick() { ticks_.fetch_add(1, std::memory_order_relaxed); }
  std::int64_t ticks() const { return ticks_.load(std::memory_order_relaxed); }
  // When the plan was followed first; -1: not yet.
  std::int64_t followed_from() const { return followed_from_; }

  // The messenger's side. Whoever waits for an answer plans alone when it goes.
  void connect(bool on);
  std::optional<Errand> next(std::chrono::milliseconds patience);
  void answer(const std::string& key, ExchangeAnswer answer);
  void start_at(const std::string& key, std::int64_t ticks);
  // Nothing that was agreed on before counts.
  void forget();

 private:
  using Clock = std::chrono::steady_clock;
  struct Readiness {
    Clock::time_point since = {};
    std::int64_t ticks = 0;  // at the last begin of an iteration
    bool told = false;
    std::optional<std::int64_t> start = {};
  };

  std::mutex mutex_;
  std::condition_variable errands_wait_, answers_wait_;
  bool connected_ = false;
  std::deque<Errand> errands_;
  std::map<std::string, ExchangeAnswer> answers_;
  std::map<std::string, Readiness> ready_;
  std::atomic<std::int64_t> ticks_ = 0;
  std::atomic<std::int64_t> followed_from_ = -1;
};

}  // namespace ebb::torch_adapter
