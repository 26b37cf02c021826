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

#include <c10/util/SmallVector.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "torch/memory_script.h"
#include "torch/platform.h"
#include "torch/repeat_book.h"

namespace ebb::torch_adapter {

struct CapturedReplay {
  MemoryScript memory = {};
  c10::SmallVector<int, 4> results = {};    // the mallocs that got them; -1: none did
  std::shared_ptr<CapturedWork> work = {};  // null: not captured yet
  bool was_seen = false;
  bool was_irregular = false;  // once, as where a library tries what is fastest, is no reason yet to refuse
  bool refused = false;        // it cannot be captured

  void refuse() {
    work = nullptr;
    refused = true;
  }
};

class CapturedReplays {
 public:
  explicit CapturedReplays(Platform& platform) : platform_(platform) {}

  RepeatBook<CapturedReplay>& book() { return book_; }
  // Captures what `work` enqueues, which is not done meanwhile; or refuses the replay from now on.
  void capture(CapturedReplay& replay, std::function<void()> work) {
    replay.work = platform_.capture(std::move(work));
    if (!replay.work) return replay.refuse();
    ++captured_;
  }
  // false: the device did not take it.
  [[nodiscard]] bool enqueue(const CapturedReplay& replay) {
    if (!replay.work->enqueue()) return false;
    ++enqueued_;
    return true;
  }
  // One that was captured ran on memory that lay elsewhere this time.
  void ran_elsewhere() { ++elsewhere_; }

  std::int64_t captured() const { return captured_; }
  std::int64_t enqueued() const { return enqueued_; }
  std::int64_t elsewhere() const { return elsewhere_; }

 private:
  Platform& platform_;
  RepeatBook<CapturedReplay> book_;
  std::int64_t captured_ = 0;
  std::int64_t enqueued_ = 0;
  std::int64_t elsewhere_ = 0;
};

// Whatever of torch's settings may choose another kernel for the same arguments, written to a key. false: it
// cannot be told.
[[nodiscard]] bool add_settings(RepeatKey& key);
// An argument that is no tensor. false: it cannot be written down.
[[nodiscard]] bool add_argument(RepeatKey& key, const c10::IValue& value);

}  // namespace ebb::torch_adapter
