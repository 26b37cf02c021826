// What the adapter knows of a block of the device.
#pragma once

#include <c10/core/Storage.h>
#include <c10/util/intrusive_ptr.h>

#include <deque>
#include <vector>

#include "runtime/device.h"

namespace ebb::torch_adapter {

class Steward;

using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

// What the adapter knows of a block. Owned by the DataPtr of its memory; it keeps the steward alive.
struct BlockRecord {
  Steward* steward = nullptr;
  Handle handle = 0;
  std::size_t bytes = 0;
  WeakStorage storage{c10::intrusive_ptr<c10::StorageImpl>()};  // null until an op showed it to us …
  void* address = nullptr;                                      // … and until then where it is
  bool of_replay = false;                                       // a birth of an op that is run again
  bool kept = false;                                            // …and the runtime's from now on
  Pin open = {};  // until the next op on it: its address is in use
  Pin life = {};  // while it lives
  int user_pins = 0;
  std::vector<void*> streams = {};  // other than the device's that use it
  std::int64_t seen_in = -1;        // the op that counted it as an operand last
  bool travelled = false;           // in a collective
};

// Records come and go with every op: they are used again.
class RecordPool {
 public:
  BlockRecord& take() {
    if (spare_.empty()) return records_.emplace_back();
    BlockRecord& record = *spare_.back();
    spare_.pop_back();
    return record;
  }
  void give(BlockRecord& record) {
    record = BlockRecord{};
    spare_.push_back(&record);
  }
  // Those that were taken.
  std::size_t in_use() const { return records_.size() - spare_.size(); }

 private:
  std::deque<BlockRecord> records_;
  std::vector<BlockRecord*> spare_;
};

}  // namespace ebb::torch_adapter
