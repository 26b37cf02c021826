#include "torch/rank_mailbox.h"

namespace ebb::torch_adapter {
namespace {

constexpr std::chrono::seconds kAnswerPatience{180};  // longer than any plan takes
constexpr std::chrono::seconds kStartPatience{60};    // with ranks that are not ready
constexpr std::chrono::milliseconds kGlance{50};      // at who wants to stop

}  // namespace

RankMailbox& RankMailbox::instance() {
  static auto* mailbox = new RankMailbox;  // threads may outlive everything else
  return *mailbox;
}

bool RankMailbox::has_others() {
  const std::lock_guard lock(mutex_);
  return connected_;
}

ExchangeAnswer RankMailbox::ask(const std::string& key, const std::string& measured,
                                const std::function<bool()>& stop) {
  std::unique_lock lock(mutex_);
  if (!connected_) return {};
  answers_.erase(key);
  errands_.push_back({.kind = Errand::Kind::ask, .key = key, .text = measured});
  errands_wait_.notify_one();
  const auto deadline = Clock::now() + kAnswerPatience;
  while (connected_ && !stop() && Clock::now() < deadline) {
    if (const auto it = answers_.find(key); it != answers_.end()) return std::move(it->second);
    answers_wait_.wait_for(lock, kGlance);
  }
  return {};
}

void RankMailbox::give(const std::string& key, const std::string& plan) {
  const std::lock_guard lock(mutex_);
  if (!connected_) return;
  errands_.push_back({.kind = Errand::Kind::give, .key = key, .text = plan});
  errands_wait_.notify_one();
}

bool RankMailbox::may_follow(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = ticks();
  const auto [it, is_new] = ready_.try_emplace(key, Readiness{.since = Clock::now(), .ticks = now});
  Readiness& ready = it->second;
  if (!is_new && !ready.told && connected_) {
    ready.told = true;
    errands_.push_back({.kind = Errand::Kind::ready, .key = key, .per_iteration = now - ready.ticks});
    errands_wait_.notify_one();
  }
  ready.ticks = now;
  const bool is_time =
      !connected_ || (ready.start && now >= *ready.start) || Clock::now() > ready.since + kStartPatience;
  if (is_time && followed_from_ < 0) followed_from_ = now;
  return is_time;
}

void RankMailbox::connect(bool on) {
  const std::lock_guard lock(mutex_);
  connected_ = on;
  if (!on) errands_.clear();
  errands_wait_.notify_all();
  answers_wait_.notify_all();
}

std::optional<Errand> RankMailbox::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (errands_.empty()) errands_wait_.wait_for(lock, patience);
  if (errands_.empty()) return std::nullopt;
  Errand errand = std::move(errands_.front());
  errands_.pop_front();
  return errand;
}

void RankMailbox::answer(const std::string& key, ExchangeAnswer answer) {
  const std::lock_guard lock(mutex_);
  answers_[key] = std::move(answer);
  answers_wait_.notify_all();
}

void RankMailbox::start_at(const std::string& key, std::int64_t ticks) {
  const std::lock_guard lock(mutex_);
  ready_[key].start = ticks;
}

void RankMailbox::forget() {
  const std::lock_guard lock(mutex_);
  errands_.clear();
  answers_.clear();
  ready_.clear();
  followed_from_ = -1;
}

}  // namespace ebb::torch_adapter
