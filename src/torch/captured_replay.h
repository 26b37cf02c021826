// Replays that repeat. An op that a plan runs again finds its operands where they were an iteration ago, and
// gets its memory at the same addresses. What it enqueues is captured when that was seen twice, and from then
// on enqueued as a whole, which costs the host a fraction of what the op does.
//
//   1st time  runs; what it asked memory for is written down
//   2nd time  runs; if it asked for the same at the same addresses, it is captured
//   later     asks for its memory, and if that lies where it lay, enqueues what was captured
//
// What has to be the same is the key: operator, arguments, addresses, and torch's settings that choose
// between kernels (docs/notes/pytorch-adapter.md).
#pragma once

#include <ATen/core/operator_name.h>
#include <c10/core/Allocator.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/exec.h"
#include "torch/platform.h"

namespace ebb::torch_adapter {

// What an op asked memory for while it ran again, and what it gave back, in order.
class MemoryScript {
 public:
  struct Call {
    std::size_t bytes = 0;
    std::byte* address = nullptr;
    int frees = -1;  // what the call of this number got, instead
    bool operator==(const Call&) const = default;
  };

  void malloced(Handle block, std::size_t bytes, std::byte* address);
  void freed(Handle block);
  // The number of the call that got a block; -1: none did.
  int call_of(Handle block) const;

  const std::vector<Call>& calls() const { return calls_; }
  void move(std::size_t call, std::byte* address) { calls_[call].address = address; }
  bool operator==(const MemoryScript& other) const { return calls_ == other.calls_; }

 private:
  std::vector<Call> calls_;
  c10::SmallVector<Handle, 4> blocks_;  // that the calls got; 0 for a free
};

// Thrown through an op that asks for other memory than its script has.
struct OtherMemory {};

// While it lives, the op that runs in this thread gets the memory that a script has. REQUIRES: the script
// outlives it, and so does what the op makes not.
class ScriptedMemory {
 public:
  explicit ScriptedMemory(const MemoryScript& script);
  ~ScriptedMemory();
  ScriptedMemory(const ScriptedMemory&) = delete;
  ScriptedMemory& operator=(const ScriptedMemory&) = delete;

  std::byte* next(std::size_t bytes);
  // Is it memory of the script that this thread follows? Then nobody else frees it.
  static bool has(const void* address);

 private:
  const MemoryScript& script_;
  const ScriptedMemory* outer_;
  std::size_t next_ = 0;
};

// Asks for a script's memory once more. What is given back after the last malloc is kept until the end.
class MemoryAgain {
 public:
  MemoryAgain(const MemoryScript& script, ExecContext& context);
  ~MemoryAgain();
  MemoryAgain(const MemoryAgain&) = delete;
  MemoryAgain& operator=(const MemoryAgain&) = delete;

  bool lies_the_same() const { return same_; }
  Handle block(int call) const { return blocks_[static_cast<std::size_t>(call)]; }
  MemoryScript script_now() const;

 private:
  void ask();
  void give_back(std::size_t call);

  const MemoryScript& script_;
  ExecContext& context_;
  c10::SmallVector<Handle, 4> blocks_;  // by call; 0: none, or given back
  c10::SmallVector<std::byte*, 4> addresses_;
  std::size_t done_ = 0;  // calls
  bool same_ = true;
};

using ReplayKey = std::vector<std::uint64_t>;

struct CapturedReplay {
  MemoryScript memory;
  c10::SmallVector<int, 4> results;         // the calls that got them; -1: none did
  std::shared_ptr<CapturedWork> work = {};  // null: not captured yet
  bool was_seen = false;
  bool refused = false;      // it cannot be captured
  std::int64_t seen_in = 0;  // generation
};

class CapturedReplays {
 public:
  explicit CapturedReplays(Platform& platform) : platform_(platform) {}

  // To be written, and then looked up.
  ReplayKey& blank_key() {
    key_.clear();
    return key_;
  }
  // What is known under the key, which may be nothing yet. Valid until other keys are looked up.
  CapturedReplay& find();
  // Captures what `work` enqueues, which runs for nothing meanwhile; or remembers that it cannot be.
  void capture(CapturedReplay& replay, std::function<void()> work);
  void enqueue(const CapturedReplay& replay) {
    ++enqueued_;
    replay.work->enqueue();
  }
  void clear() { replays_.clear(); }

  std::int64_t captured() const { return captured_; }
  std::int64_t enqueued() const { return enqueued_; }

 private:
  struct Hash {
    std::size_t operator()(const ReplayKey& key) const;
  };
  void forget_old();

  static constexpr std::size_t kFew = 512;

  Platform& platform_;
  ReplayKey key_;
  std::unordered_map<ReplayKey, CapturedReplay, Hash> replays_;
  // Plans change, and with them addresses: what was not seen between two clearings goes with the next.
  std::size_t most_ = kFew;
  std::int64_t generation_ = 0;
  std::int64_t captured_ = 0;
  std::int64_t enqueued_ = 0;
};

// Does the op do nothing on the host but launch work on the tensors it is given? Known of the commonest of
// torch's own; others may wait for the device, read host memory later, or call a library that keeps
// workspaces.
bool only_launches(const c10::OperatorName& op);
// Whatever of torch's settings may choose another kernel for the same arguments, written to a key. false: it
// cannot be told.
[[nodiscard]] bool add_settings(ReplayKey& key);
// An argument that is no tensor. false: it cannot be written down.
[[nodiscard]] bool add_argument(ReplayKey& key, const c10::IValue& value);

}  // namespace ebb::torch_adapter
