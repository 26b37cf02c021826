// What the adapter knows of a block of the device.
#pragma once

#include <c10/core/Storage.h>
#include <c10/util/intrusive_ptr.h>

#include <deque>
#include <utility>
#include <vector>

#include "runtime/device.h"

namespace ebb::torch_adapter {

class Steward;

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

// What the adapter knows of a block. Owned by the DataPtr of its memory; it keeps the steward alive. What
// every op looks at is in the first cache line.
struct alignas(64) BlockRecord {
  Steward* steward = nullptr;
  Handle handle = 0;
  std::size_t bytes = 0;
  WeakStorage storage{c10::intrusive_ptr<c10::StorageImpl>()};  // null until an op showed it to us …
  void* address = nullptr;                                      // … and until then where it is
  std::int64_t seen_in = -1;                                    // the op that counted it as an operand last
  int user_pins = 0;
  bool of_replay = false;      // a birth of an op that is run again
  bool kept = false;           // …and the runtime's from now on
  bool travelled = false;      // in a collective
  bool is_ordinary = true;     // has had none of what follows
  Pin open = {};               // until the next op on it: its address is in use
  Pin life = {};               // while it lives
  std::vector<void*> streams;  // other than the device's that use it

  void set_open(Pin pin) {
    is_ordinary = false;
    open = std::move(pin);
  }
  void close() {
    if (!is_ordinary) open.release();
  }
  // As if it had never been used, but for whose and how large it is.
  void reset() {
    storage.reset();
    address = nullptr;
    seen_in = -1;
    user_pins = 0;
    of_replay = kept = travelled = false;
    if (std::exchange(is_ordinary, true)) return;
    open.release();
    life.release();
    streams.clear();
  }
};

// Records come and go with every op: they are used again.
class RecordPool {
 public:
  BlockRecord& take() {
    ++in_use_;
    if (spare_.empty()) return records_.emplace_back();
    BlockRecord& record = *spare_.back();
    spare_.pop_back();
    return record;
  }
  void give(BlockRecord& record) {
    --in_use_;
    record.reset();
    spare_.push_back(&record);
  }
  // Those that were taken.
  std::size_t in_use() const { return in_use_; }

 private:
  std::vector<BlockRecord*> spare_;
  std::size_t in_use_ = 0;
  std::deque<BlockRecord> records_;
};

}  // namespace ebb::torch_adapter
