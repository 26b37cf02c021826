#include "torch/steward.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>

#include "runtime/arena.h"
#include "torch/address_book.h"
#include "torch/call.h"
#include "torch/captured_replay.h"
#include "torch/interposer.h"
#include "torch/rank_mailbox.h"
#include "torch/recipe.h"
#include "torch/torch_version.h"
#include "trace/error.h"

namespace ebb::torch_adapter {
namespace {

// Ops for which a small block stays after its last use: code between ops reads such results directly (sizes,
// bounds of indices).
constexpr std::int64_t kSmallRest = 16;

constexpr std::int64_t kLateOps = 128;  // for which a dead tensor of a collective stays, if it is small
constexpr Bytes kLateBytes = 1 << 20;

using Lock = std::unique_lock<ReentrantMutex>;

void delete_address(void* address) { free_block_at(address); }

Steward::Raise raise_out_of_memory = nullptr;

Bytes signed_bytes(std::size_t bytes) { return static_cast<Bytes>(bytes); }

}  // namespace

Steward::Steward(std::unique_ptr<Platform> platform, const StewardOptions& options)
    : place_(platform->device()),
      options_(options),
      platform_(std::move(platform)),
      limit_(options.limit > 0 ? options.limit : platform_->all_memory()),
      backend_(platform_->make_backend()),
      recipes_(std::make_unique<RecipePool>()) {
  DeviceOptions device;
  beside_ = platform_->ordinary_bytes();
  device.limit = limit_ - beside_;
  if (device.limit < Arena::kAlignment)
    throw InputError(
        beside_ == 0 ? fmt::format("a limit of {} bytes: {} is the least", limit_, Arena::kAlignment)
                     : fmt::format("a limit of {} bytes, of which torch has {} already", limit_, beside_));
  device.host_limit = options.host_limit;
  device.mode = options.mode;
  device.allow_recompute = options.recompute;
  device.small_rest = kSmallRest;
  device.planner = options.planner;
  device.kept_plans = options.kept_plans;
  device.host_is_ahead = place_.is_cuda();
  device.time_ops = options.record || options.mode != Mode::reactive;
  if (options.mode == Mode::planned) {
    device.machine = platform_->machine();
    device.link_is_shared = options.link_is_shared;
    device.exchange = std::shared_ptr<PlanExchange>(std::shared_ptr<void>(), &RankMailbox::instance());
    RankMailbox::instance().forget();
  }
  device.on_move = [this](Handle block, std::byte* address) { moved(block, address); };
  device.trace_plans = options.record;
  // Without a plan to make, nobody reads a trace that was not asked for.
  if (options.mode == Mode::reactive) device.trace_events = 0;
  if (options.record) device.trace_events = 64'000'000;
  device_ = std::make_unique<Device>(*backend_, device);
  const bool replays = options.mode == Mode::planned && options.recompute;
  if (replays && options.capture) captured_ = std::make_unique<CapturedReplays>(*platform_);
}

Steward::~Steward() = default;

void Steward::set_raise(Raise raise) { raise_out_of_memory = raise; }

void Steward::raise(const std::string& message) {
  if (raise_out_of_memory) raise_out_of_memory(message);
  throw OutOfMemory(message);
}

// Memory.

c10::DataPtr Steward::pointer(BlockRecord& record, void* address) {
  return c10::DataPtr(address, &record, &delete_block, place_);
}

inline c10::DataPtr Steward::pointer_by_address(BlockRecord& record, void* address) {
  record.address = address;
  address_book().add(record);
  return c10::DataPtr(address, address, &delete_address, place_);
}

inline BlockRecord* Steward::make_record(Handle block, std::size_t bytes) {
  BlockRecord* record = &pool_.take();
  if (!self_) self_ = shared_from_this();
  record->steward = this;
  record->handle = block;
  record->bytes = bytes;
  if (running_) record->of_replay = running_->replay;
  if (record->of_replay) return record;
  records_.set(block, record);
  live_bytes_ += Arena::rounded(signed_bytes(bytes));
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return record;
}

std::optional<c10::DataPtr> Steward::allocate(std::size_t bytes) {
  if (bytes == 0) return c10::DataPtr(nullptr, place_);
  Lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    // A worker of an op that runs: whoever waits for the op's end in it waits for ever.
    if (at::in_parallel_region()) return std::nullopt;
    lock.lock();
  }
  if (active() != this) return std::nullopt;
  // A thread of a communication library: its buffers come and go whenever, and nobody sees them.
  if (!running_ && !is_listening()) return std::nullopt;
  if (running_) {
    if (running_->scripted) {
      std::byte* address = running_->scripted->next(bytes);
      if (address) return c10::DataPtr(address, address, &delete_address, place_);
      if (!running_->context) throw OtherMemory{};
    }
    running_->inside += Arena::rounded(signed_bytes(bytes));
    running_->inside_peak = std::max(running_->inside_peak, running_->inside);
    const Handle block = running_->context->malloc(signed_bytes(bytes));
    platform_->order_current_after_compute();
    BlockRecord* record = running_->births.emplace_back(make_record(block, bytes));
    std::byte* address = running_->context->data(block);
    if (running_->script) running_->script->malloced(block, bytes, address);
    return pointer_by_address(*record, address);
  }
  drain();
  for (;;) {
    try {
      const Handle block = device_->malloc(signed_bytes(bytes));
      Pin pin = device_->pin(block, PinFor::writing);
      BlockRecord* record = make_record(block, bytes);
      record->set_open(std::move(pin));
      return pointer_by_address(*record, record->open.data());
    } catch (const OutOfMemory& error) {
      if (wait_for_flight(lock)) continue;
      raise(error.what() + advice(Arena::rounded(signed_bytes(bytes)), error.lacking()));
    }
  }
}

// A record's block and all that is known of it.
inline void Steward::drop(BlockRecord* record) {
  platform_->order_compute_after_current();
  if (!record->is_ordinary) {
    for (void* stream : record->streams) platform_->order_compute_after(stream);
    if (record->life.data()) pinned_bytes_ -= Arena::rounded(signed_bytes(record->bytes));
  }
  if (!record->kept) {
    if (running_ && running_->script && record->of_replay) running_->script->freed(record->handle);
    device_->free(record->handle);
  }
  if (!record->of_replay) {
    records_.erase(record->handle);
    live_bytes_ -= Arena::rounded(signed_bytes(record->bytes));
  }
  if (running_) {
    const auto it = std::find(running_->births.rbegin(), running_->births.rend(), record);
    if (it != running_->births.rend()) {
      running_->births.erase(std::next(it).base());
      running_->inside -= Arena::rounded(signed_bytes(record->bytes));
    }
  }
  pool_.give(*record);
}

bool free_block_at(void* address) {
  BlockRecord* record = address_book().take(address);
  if (record) Steward::delete_block(record);
  return record || ScriptedMemory::has(address);
}

void Steward::delete_block(void* context) {
  auto* record = static_cast<BlockRecord*>(context);
  record->steward->released(record);
}

std::shared_ptr<Steward> Steward::released(BlockRecord* record) {
  const Lock lock(mutex_, std::try_to_lock);
  // A replay's frame takes every free for one of its own.
  const bool foreign_to_replay = lock && running_ && running_->replay && !record->of_replay;
  if (lock && !moving_ && !foreign_to_replay) {
    dies_late(*record) ? late_.push_back(record) : drop(record);
    return let_self_go();
  }
  const std::lock_guard queue(released_mutex_);
  released_.push_back(record);
  any_released_ = true;
  return nullptr;
}

std::shared_ptr<Steward> Steward::let_self_go() { return pool_.in_use() == 0 ? std::move(self_) : nullptr; }

// A thread of the backend may be the last to let go of it, a moment sooner or later. So that the iteration is
// the same every time and on every rank, it dies so many ops after its last use.
bool Steward::dies_late(const BlockRecord& record) const {
  return record.travelled && signed_bytes(record.bytes) <= kLateBytes && !record.of_replay &&
         active() == this;
}

void Steward::bury(bool all) {
  const auto lives_on = [&](const BlockRecord* record) { return !all && ops_ < record->seen_in + kLateOps; };
  const auto dead = std::stable_partition(late_.begin(), late_.end(), lives_on);
  const std::vector<BlockRecord*> records(dead, late_.end());
  late_.erase(dead, late_.end());
  for (BlockRecord* record : records) drop(record);
}

void Steward::drain_all() {
  if (!flights_.empty()) land_flights();
  if (!late_.empty()) bury(false);
  if (!any_released_) return;
  std::vector<BlockRecord*> released;
  {
    const std::lock_guard queue(released_mutex_);
    released.swap(released_);
    any_released_ = false;
  }
  for (BlockRecord* record : released) dies_late(*record) ? late_.push_back(record) : drop(record);
}

void Steward::moved(Handle block, std::byte* address) {
  BlockRecord** found = records_.find(block);
  if (!found) return;
  BlockRecord& record = **found;
  moving_ = true;
  if (const c10::intrusive_ptr<c10::StorageImpl> storage = record.storage.lock())
    if (data_ptr_of(*storage).get_context() == &record) replace_data_ptr(*storage, pointer(record, address));
  moving_ = false;
}

// Storages.

BlockRecord* Steward::known_record(const c10::DataPtr& memory) const {
  BlockRecord* record = nullptr;
  if (memory.get_deleter() == &delete_block)
    record = static_cast<BlockRecord*>(memory.get_context());
  else if (memory.get_deleter() == &delete_address)
    record = address_book().find(memory.get_context());
  return record && record->steward == this ? record : nullptr;
}

bool Steward::record_stream(const c10::DataPtr& memory, void* stream) {
  const Lock lock(mutex_);
  BlockRecord* record = known_record(memory);
  if (!record) return false;
  // Copies wait for the device's own stream only: it must not move as long as another may use it. How long a
  // collective does is known.
  if (!running_ && !CollectiveIssue::under_way()) pin_for_life(*record);
  record->is_ordinary = false;
  if (std::find(record->streams.begin(), record->streams.end(), stream) == record->streams.end())
    record->streams.push_back(stream);
  return true;
}

BlockRecord* Steward::find_record(const c10::Storage& storage) {
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  if (impl->device() != place_) return nullptr;
  const c10::DataPtr& memory = data_ptr_of(*impl);
  BlockRecord* record = nullptr;
  if (memory.get_deleter() == &delete_address) {
    record = address_book().take_of(*this, memory.get_context());
    if (record) replace_data_ptr(*impl, pointer(*record, std::exchange(record->address, nullptr)));
  } else {
    record = known_record(memory);
  }
  if (!record) {
    const bool adoptable = memory.get() && platform_->may_adopt(memory);
    return adoptable ? adopt(*impl) : nullptr;
  }
  if (record->storage._unsafe_get_target() != impl) record->storage = storage.getWeakStorageImpl();
  return record;
}

BlockRecord* Steward::adopt(c10::StorageImpl& storage) {
  const std::size_t bytes = storage.nbytes();
  if (bytes == 0 || running_) return nullptr;
  const Handle block = device_->malloc(signed_bytes(bytes));
  BlockRecord* record = make_record(block, bytes);
  record->set_open(device_->pin(block, PinFor::writing));
  platform_->copy(record->open.data(), data_ptr_of(storage).get(), bytes);
  // The old memory goes back to where it came from.
  storage.set_data_ptr_noswap(pointer(*record, record->open.data()));
  record->storage = WeakStorage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&storage));
  record->close();
  return record;
}

void Steward::pin_for_life(BlockRecord& record) {
  if (record.life.data() || record.of_replay) return;
  record.is_ordinary = false;
  record.life = device_->pin(record.handle, PinFor::writing);
  pinned_bytes_ += Arena::rounded(signed_bytes(record.bytes));
}

void Steward::keep_extra(BlockRecord& record) {
  record.of_replay = false;
  records_.set(record.handle, &record);
  live_bytes_ += Arena::rounded(signed_bytes(record.bytes));
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
}

void Steward::open(BlockRecord& record, PinFor purpose) {
  record.set_open(device_->pin(record.handle, purpose));
}

// Ops.

void Steward::exec(const OpInfo& info, const Operands& operands, const Bytes& inside,
                   const ExecFunction& function) {
  try {
    device_->exec(info, {operands.reads.data(), operands.reads.size()},
                  {operands.writes.data(), operands.writes.size()}, function);
  } catch (const OutOfMemory& error) {
    throw WantOfMemory{error.what() + advice(operands.bytes + inside, error.lacking())};
  }
  const Bytes needed = operands.bytes + inside;
  largest_op_ = std::max(largest_op_, needed);
  // What stays beside an op takes long to find: it is asked for beside large ones only, and ever more rarely.
  if (needed <= largest_op_ / 2) return;
  if (!asked_last_ || asked_last_->first != needed) asked_last_ = &*asked_.try_emplace(needed).first;
  if (std::has_single_bit(++asked_last_->second))
    smallest_ = std::max(smallest_, needed + device_->bytes_that_stay());
}

Bytes Steward::smallest_limit() const { return beside_ + std::max(smallest_, largest_op_ + pinned_bytes_); }

std::string Steward::advice(Bytes needed, Bytes lacking) const {
  const Bytes in_bytes = std::max(beside_ + needed + device_->bytes_that_stay(), smallest_limit());
  if (options_.mode == Mode::observe)
    return fmt::format("; only observing, nothing moves: it needs {} bytes",
                       std::max({beside_ + peak_bytes_, in_bytes, limit_ + lacking}));
  const Bytes smallest = lacking > 0 ? std::max(in_bytes, limit_ + lacking) : in_bytes;
  if (smallest <= limit_)
    return fmt::format("; of {} bytes it would take {}, but not in one piece: a larger limit helps", limit_,
                       smallest);
  return fmt::format("; the smallest limit that would work so far is {} bytes, {} of them pinned for good",
                     smallest, pinned_bytes_);
}

// Pins.

TensorPin::TensorPin(std::shared_ptr<Steward> steward, BlockRecord& record, PinFor purpose)
    : steward_(std::move(steward)), handle_(record.handle) {
  const Lock lock(steward_->mutex());
  pin_ = steward_->device().pin(record.handle, purpose);
  ++record.user_pins;
}

void TensorPin::release() {
  if (!steward_) return;
  {
    const Lock lock(steward_->mutex());
    if (BlockRecord** record = steward_->records_.find(handle_)) --(*record)->user_pins;
    pin_.release();
  }
  steward_.reset();
}

}  // namespace ebb::torch_adapter
