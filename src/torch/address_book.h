// Which block lies at an address that a program was given.
#pragma once

#include <memory_resource>
#include <mutex>
#include <unordered_map>

#include "torch/block_record.h"

namespace ebb::torch_adapter {

// Memory that no storage is known for, of all stewards. Every birth enters and leaves it.
class AddressBook {
 public:
  void add(BlockRecord& record) {
    const std::lock_guard lock(mutex_);
    records_[record.address] = &record;
  }
  BlockRecord* find(void* address) {
    const std::lock_guard lock(mutex_);
    const auto it = records_.find(address);
    return it == records_.end() ? nullptr : it->second;
  }
  BlockRecord* take(void* address) {
    return take_if(address, [](const BlockRecord&) { return true; });
  }
  template <typename Wanted>
  BlockRecord* take_if(void* address, Wanted&& wanted) {
    const std::lock_guard lock(mutex_);
    const auto it = records_.find(address);
    if (it == records_.end() || !wanted(*it->second)) return nullptr;
    BlockRecord* record = it->second;
    records_.erase(it);
    return record;
  }

 private:
  std::mutex mutex_;
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::unordered_map<void*, BlockRecord*> records_{&pool_};
};

// The one of the process, which is never destroyed: memory may be freed when all else is gone.
inline AddressBook& address_book() {
  static AddressBook* book = new AddressBook;
  return *book;
}

}  // namespace ebb::torch_adapter
