// Which block lies at an address that a program was given.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "torch/block_record.h"
#include "torch/pointer_map.h"

namespace ebb::torch_adapter {

// Memory that no storage is known for, of all stewards. Every birth enters and leaves it.
class AddressBook {
 public:
  void add(BlockRecord& record) {
    const std::lock_guard lock(busy_);
    records_.set(record.address, &record);
  }
  BlockRecord* find(void* address) {
    const std::lock_guard lock(busy_);
    return records_.find(address);
  }
  BlockRecord* take(void* address) {
    const std::lock_guard lock(busy_);
    return records_.take(address);
  }
  // Only if it is that steward's.
  BlockRecord* take_of(const Steward& steward, void* address) {
    const std::lock_guard lock(busy_);
    const BlockRecord* record = records_.find(address);
    return record && record->steward == &steward ? records_.take(address) : nullptr;
  }

 private:
  // Nobody has it longer than a look-up takes.
  class Busy {
   public:
    void lock() {
      while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag flag_;
  };

  Busy busy_;
  PointerMap<BlockRecord> records_;
};

// The one of the process, which is never destroyed: memory may be freed when all else is gone.
inline AddressBook& address_book() {
  static AddressBook* book = new AddressBook;
  return *book;
}

}  // namespace ebb::torch_adapter
