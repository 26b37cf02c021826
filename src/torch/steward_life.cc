// Steward: how it begins, takes over from another, and ends.
#include "torch/captured_replay.h"
#include "torch/steward.h"
#include "trace/error.h"

namespace ebb::torch_adapter {
namespace {

using Lock = std::unique_lock<ReentrantMutex>;

std::atomic<Steward*> active_steward = nullptr;

}  // namespace

Steward* Steward::active() { return active_steward.load(std::memory_order_acquire); }

void Steward::activate(Steward* before) {
  const Lock lock(mutex_);
  if (before) move_here(*before);
  if (before) before->let_self_go();
  platform_->serve_from(this);
  active_steward.store(this, std::memory_order_release);
}

bool Steward::stays(const BlockRecord& record) const {
  return record.life.data() || record.open.data() || record.user_pins > 0 || record.storage.expired();
}

void Steward::hand_over(const std::function<void(c10::StorageImpl&, const BlockRecord&, const Pin&)>& take) {
  std::vector<BlockRecord*> records;
  records_.for_each([&](Handle, BlockRecord* record) {
    if (!stays(*record)) records.push_back(record);
  });
  for (BlockRecord* record : records) {
    const c10::intrusive_ptr<c10::StorageImpl> storage = record->storage.lock();
    if (!storage) continue;
    const Pin pin = device_->pin(record->handle, PinFor::reading);
    device_->synchronize();
    take(*storage, *record, pin);
  }
  bury(true);
}

void Steward::move_here(Steward& from) {
  const Lock lock(from.mutex_);
  from.drain();
  from.land_flights();
  from.hand_over([this](c10::StorageImpl& storage, const BlockRecord&, const Pin&) { adopt(storage); });
  from.captured_.reset();
}

void Steward::stop() {
  const Lock lock(mutex_);
  if (running_) throw InputError("Ebb cannot stop inside an op");
  drain();
  // Still serving: what has to be computed again needs its memory from here.
  hand_over([this](c10::StorageImpl& storage, const BlockRecord& record, const Pin& pin) {
    c10::DataPtr memory = platform_->allocate_ordinary(record.bytes);
    platform_->copy(memory.get(), pin.data(), record.bytes);
    storage.set_data_ptr_noswap(std::move(memory));
  });
  platform_->serve_from(nullptr);
  captured_.reset();
  Steward* self = this;
  active_steward.compare_exchange_strong(self, nullptr);
  let_self_go();
}

void Steward::give_up_in_child() {
  Steward* self = this;
  active_steward.compare_exchange_strong(self, nullptr);
  platform_->serve_from(nullptr);
  records_.for_each([&](Handle block, BlockRecord* record) {
    const c10::intrusive_ptr<c10::StorageImpl> storage = record->storage.lock();
    if (!storage || data_ptr_of(*storage).get_context() != record) return;
    auto* bytes = const_cast<std::byte*>(device_->readable(block));
    replace_data_ptr(*storage, c10::DataPtr(bytes, place_));
  });
  mutex_.abandon();
}

}  // namespace ebb::torch_adapter
