// Keeps one limit on one device, from start to stop: the storages that torch allocates meanwhile are blocks
// of an ebb::Device, and ops run through it (docs/notes/pytorch-adapter.md).
//
// Memory we hand out is known by its address and stays where it is, since its user may keep nothing else,
// until an op shows us the storage that has it. From then on the storage's DataPtr has the BlockRecord as its
// context, also while the bytes are away and the address is null. One lock guards everything and is held
// while an op runs.
#pragma once

#include <c10/core/Storage.h>
#include <c10/util/SmallVector.h>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/device.h"
#include "runtime/handle_map.h"
#include "runtime/reentrant_mutex.h"
#include "torch/block_record.h"
#include "torch/collective_work.h"
#include "torch/platform.h"
#include "torch/torch_version.h"

namespace ebb::torch_adapter {

class CapturedReplays;
class MemoryScript;
class Operands;
class RecipePool;
class ScriptedMemory;

struct StewardOptions {
  Bytes limit = 0;  // 0: all the device has
  Bytes host_limit = 0;
  Mode mode = Mode::reactive;
  bool recompute = false;
  bool stress = false;          // everything that can leaves after every op
  bool record = false;          // a long trace
  bool link_is_shared = false;  // with other ranks on this host
  std::string planner = {};     // of planned mode; empty: the default
  std::string kept_plans = {};  // a folder; empty: plans end with the program
  bool capture = false;         // replays that repeat (captured_replay.h)
};

// An op whose function runs, for the first time or again.
struct RunningOp {
  ExecContext* context = nullptr;  // null: there is no memory but what is scripted
  bool replay = false;
  c10::SmallVector<BlockRecord*, 4> births = {};  // that live, in malloc order
  Bytes inside = 0;                               // they are, and …
  Bytes inside_peak = 0;                          // … were at most, what there was no room for included
  MemoryScript* script = nullptr;                 // what it asks for is written to, and …
  ScriptedMemory* scripted = nullptr;             // … gets its memory from first, if that is known
};

// The op cannot run beside what stays; `message` is for the program.
struct WantOfMemory {
  std::string message;
  bool may_run_again = true;  // nothing of it was written
};

using HeldBlocks = std::vector<std::pair<Handle, Pin>>;

// A collective that was issued and is not over: its blocks stay where they are.
struct Flight {
  std::vector<CollectiveWork> works;
  HeldBlocks pins;
};

// Keeps a tensor's memory where it is while it lives.
class TensorPin {
 public:
  TensorPin() = default;
  TensorPin(std::shared_ptr<Steward> steward, BlockRecord& record, PinFor purpose);
  TensorPin(TensorPin&& other) noexcept = default;
  TensorPin& operator=(TensorPin&& other) = delete;
  ~TensorPin() { release(); }
  void release();

 private:
  std::shared_ptr<Steward> steward_;
  Handle handle_ = 0;
  Pin pin_;
};

class Steward final : public MemorySource, public std::enable_shared_from_this<Steward> {
 public:
  Steward(std::unique_ptr<Platform> platform, const StewardOptions& options);
  ~Steward() override;

  // The one that ops go through, or null. There is at most one.
  static Steward* active();
  static void delete_block(void* record);
  // Makes this the active one. `before`, if given, stops being it, and its blocks move here.
  void activate(Steward* before);
  // Storages get ordinary memory; those that are pinned stay where they are, and the memory with them.
  void stop();
  // In the child of a fork: storages point at wherever their bytes are, and this is over.
  void give_up_in_child();

  ReentrantMutex& mutex() { return mutex_; }
  Device& device() { return *device_; }
  Platform& platform() { return *platform_; }
  c10::Device place() const { return place_; }
  RecipePool& recipes() { return *recipes_; }
  // Null: replays are not captured.
  CapturedReplays* captured_replays() { return captured_.get(); }
  const StewardOptions& options() const { return options_; }

  // The block of a storage on this device, known by its storage from now on; memory that may be adopted is.
  // Null: not ours, never moved.
  BlockRecord* record_of(const c10::Storage& storage) {
    const c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
    if (!impl) return nullptr;
    const c10::DataPtr& memory = data_ptr_of(*impl);
    if (memory.get_deleter() == &delete_block) {
      auto* record = static_cast<BlockRecord*>(memory.get_context());
      if (record->steward == this && record->storage._unsafe_get_target() == impl) return record;
    }
    return find_record(storage);
  }
  void pin_for_life(BlockRecord& record);
  // What a replay malloc'd beyond its births is the program's, and stays where it is.
  void keep_extra(BlockRecord& record);
  // Resident, and pinned until the next op on it.
  void open(BlockRecord& record, PinFor purpose);

  // Pins for a collective, which `take_off` keeps until all its works are over; `drain` looks.
  HeldBlocks::value_type hold(BlockRecord& record, PinFor purpose);
  void take_off(std::vector<CollectiveWork> works, HeldBlocks pins);
  void let_go(HeldBlocks& pins);
  // Waits, without the lock, until a collective is over, which gives memory free. false: none was within
  // half a minute, or there is none. REQUIRES: the lock is held once.
  bool wait_for_flight(std::unique_lock<ReentrantMutex>& lock);
  std::size_t flights() const { return flights_.size(); }

  // Runs an op. `inside`: what it malloc'd, which its function has set when this asks. Throws WantOfMemory.
  void exec(const OpInfo& info, const Operands& operands, const Bytes& inside, const ExecFunction& function);
  RunningOp* running() const { return running_; }
  // Makes an op the running one; returns the one before.
  RunningOp* set_running(RunningOp* op) { return std::exchange(running_, op); }
  std::int64_t next_op() { return ++ops_; }
  // Frees that came while the lock was taken, and collectives that are over.
  void drain() {
    if (!running_ && (any_released_ || !late_.empty() || !flights_.empty())) drain_all();
  }

  // A limit under which all ops so far can run: what the largest took, as if it had reused nothing of its
  // own, and what had to stay beside it.
  Bytes smallest_limit() const;
  Bytes pinned_bytes() const { return pinned_bytes_; }

  // Throws the exception that Python sees as ebb's OutOfMemory.
  using Raise = void (*)(const std::string& message);
  static void set_raise(Raise raise);
  [[noreturn]] static void raise(const std::string& message);

  std::optional<c10::DataPtr> allocate(std::size_t bytes) override;
  Bytes bytes_allocated() const override { return live_bytes_; }
  Bytes peak_allocated() const override { return peak_bytes_; }
  void reset_peak() override { peak_bytes_ = live_bytes_; }
  Bytes limit() const override { return limit_; }
  bool record_stream(const c10::DataPtr& memory, void* stream) override;

 private:
  friend class TensorPin;
  // What it returns goes when the lock is free: it may be the last that keeps this.
  std::shared_ptr<Steward> released(BlockRecord* record);
  std::shared_ptr<Steward> let_self_go();
  bool dies_late(const BlockRecord& record) const;
  void drain_all();
  void bury(bool all);
  void drop(BlockRecord* record);
  void moved(Handle block, std::byte* address);
  BlockRecord* make_record(Handle block, std::size_t bytes);
  c10::DataPtr pointer(BlockRecord& record, void* address);
  c10::DataPtr pointer_by_address(BlockRecord& record, void* address);
  BlockRecord* find_record(const c10::Storage& storage);
  BlockRecord* known_record(const c10::DataPtr& memory) const;
  BlockRecord* adopt(c10::StorageImpl& storage);
  void move_here(Steward& from);
  // Every storage that can have its bytes elsewhere, one after the other, pinned; then buries all records.
  void hand_over(const std::function<void(c10::StorageImpl&, const BlockRecord&, const Pin&)>& take);
  bool land_flights();
  bool stays(const BlockRecord& record) const;
  std::string advice(Bytes needed, Bytes lacking) const;

  // What ops look at comes first, to lie in few cache lines.
  ReentrantMutex mutex_;
  RunningOp* running_ = nullptr;
  std::int64_t ops_ = 0;
  Bytes live_bytes_ = 0;  // of all blocks, wherever they are
  Bytes peak_bytes_ = 0;
  Bytes largest_op_ = 0;
  std::vector<BlockRecord*> late_;          // dead, see dies_late; guarded by the lock
  std::atomic<bool> any_released_ = false;  // in released_
  bool moving_ = false;                     // the device is telling us where a block is
  c10::Device place_;                       // the platform's
  StewardOptions options_;
  std::unique_ptr<Platform> platform_;
  Bytes limit_;
  Bytes beside_ = 0;  // of it, that torch had before
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<RecipePool> recipes_;  // that the device remembers
  std::unique_ptr<Device> device_;
  std::unique_ptr<CapturedReplays> captured_;
  RecordPool pool_;
  HandleMap<BlockRecord*> records_;
  std::shared_ptr<Steward> self_;  // while there are records
  std::list<Flight> flights_;      // in the order they were issued
  std::int64_t glances_ = 0;       // at them

  Bytes pinned_bytes_ = 0;                                  // for life
  std::unordered_map<Bytes, unsigned> asked_;               // by the bytes of large ops: how often they ran
  std::pair<const Bytes, unsigned>* asked_last_ = nullptr;  // of them
  Bytes smallest_ = 0;  // limit for the ops so far, with what had to stay beside each

  std::mutex released_mutex_;
  std::vector<BlockRecord*> released_;  // while the lock was taken by others
};

// While it lives, the current thread hands a collective to its backend.
class CollectiveIssue {
 public:
  CollectiveIssue();
  ~CollectiveIssue();
  CollectiveIssue(const CollectiveIssue&) = delete;
  CollectiveIssue& operator=(const CollectiveIssue&) = delete;
  static bool under_way();
};

// Collectives of the current thread that are issued as one, with one Work for all of them, or of which only
// Python knows the Work.
class CollectiveGroup {
 public:
  explicit CollectiveGroup(std::shared_ptr<Steward> steward);
  ~CollectiveGroup();
  CollectiveGroup(const CollectiveGroup&) = delete;
  CollectiveGroup& operator=(const CollectiveGroup&) = delete;

  // The one that is open, or null.
  static CollectiveGroup* open();
  // REQUIRES: the steward's lock is held.
  void add(HeldBlocks pins);
  void add(const at::Tensor& tensor);
  void set_works(std::vector<CollectiveWork> works) { works_ = std::move(works); }

 private:
  std::shared_ptr<Steward> steward_;
  CollectiveGroup* outer_;
  HeldBlocks pins_;
  std::vector<CollectiveWork> works_;
};

// Makes an op the running one while it lives.
class RunningEntry {
 public:
  RunningEntry(Steward& steward, RunningOp& op) : steward_(steward), outer_(steward.set_running(&op)) {}
  ~RunningEntry() { steward_.set_running(outer_); }
  RunningEntry(const RunningEntry&) = delete;
  RunningEntry& operator=(const RunningEntry&) = delete;

 private:
  Steward& steward_;
  RunningOp* outer_;
};

}  // namespace ebb::torch_adapter
