// Steward: collectives that are under way.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "torch/steward.h"

namespace ebb::torch_adapter {
namespace {

constexpr std::int64_t kAskAll = 16;               // looks between two at all collectives
constexpr std::chrono::seconds kPatience{30};      // with a collective that keeps memory an op wants …
constexpr std::chrono::microseconds kGlance{200};  // … looked at this often

using Lock = std::unique_lock<ReentrantMutex>;

thread_local CollectiveGroup* open_group = nullptr;
thread_local int issues = 0;

}  // namespace

HeldBlocks::value_type Steward::hold(BlockRecord& record, PinFor purpose) {
  Pin pin = device_->pin(record.handle, purpose);
  ++record.user_pins;
  record.travelled = true;
  return {record.handle, std::move(pin)};
}

void Steward::let_go(HeldBlocks& pins) {
  for (auto& [block, pin] : pins) {
    if (BlockRecord** record = records_.find(block)) --(*record)->user_pins;
    pin.release();
  }
  pins.clear();
}

void Steward::take_off(std::vector<CollectiveWork> works, HeldBlocks pins) {
  if (works.empty()) return let_go(pins);
  if (place_.is_cpu())
    for (CollectiveWork& work : works) work.only_watch();
  flights_.push_back({std::move(works), std::move(pins)});
}

bool Steward::land_flights() {
  const auto is_over = [](const CollectiveWork& work) { return work.is_over(); };
  // They end in the order they began, almost always: the others are asked now and then.
  const bool ask_all = ++glances_ % kAskAll == 0;
  bool any = false;
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    if (!std::all_of(flight->works.begin(), flight->works.end(), is_over)) {
      if (!ask_all) break;
      ++flight;
      continue;
    }
    for (const CollectiveWork& work : flight->works) work.synchronize();
    platform_->order_compute_after_current();
    let_go(flight->pins);
    flight = flights_.erase(flight);
    any = true;
  }
  return any;
}

bool Steward::wait_for_flight(Lock& lock) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!flights_.empty() && !running_) {
    if (land_flights()) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    lock.unlock();
    std::this_thread::sleep_for(kGlance);
    lock.lock();
  }
  return false;
}

CollectiveIssue::CollectiveIssue() { ++issues; }
CollectiveIssue::~CollectiveIssue() { --issues; }
bool CollectiveIssue::under_way() { return issues > 0; }

CollectiveGroup::CollectiveGroup(std::shared_ptr<Steward> steward)
    : steward_(std::move(steward)), outer_(std::exchange(open_group, this)) {}

CollectiveGroup::~CollectiveGroup() {
  open_group = outer_;
  const Lock lock(steward_->mutex());
  steward_->take_off(std::move(works_), std::move(pins_));
}

CollectiveGroup* CollectiveGroup::open() { return open_group; }

void CollectiveGroup::add(HeldBlocks pins) { std::move(pins.begin(), pins.end(), std::back_inserter(pins_)); }

void CollectiveGroup::add(const at::Tensor& tensor) {
  const Lock lock(steward_->mutex());
  BlockRecord* record = steward_->record_of(tensor.storage());
  if (record) pins_.push_back(steward_->hold(*record, PinFor::writing));
}

}  // namespace ebb::torch_adapter
