// What belongs to an address: a table that a look-up touches one cache line of, and that takes no memory per
// entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ebb::torch_adapter {

template <typename Value>
class PointerMap {
 public:
  // nullptr: there is none.
  Value* find(const void* key) const { return slots_[slot_of(key)].value; }
  // Whatever the key had goes. REQUIRES: neither is null.
  void set(const void* key, Value* value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    used_ += slot.key ? 0 : 1;
    slot = {key, value};
  }
  // Removes it; nullptr: there was none.
  Value* take(const void* key) {
    std::size_t hole = slot_of(key);
    Value* value = slots_[hole].value;
    if (!value) return nullptr;
    // What follows without a gap comes nearer to where it is looked for first.
    for (std::size_t i = next(hole); slots_[i].key; i = next(i)) {
      const std::size_t first = first_slot(slots_[i].key);
      if (((i - first) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    --used_;
    return value;
  }

 private:
  struct Slot {
    const void* key = nullptr;
    Value* value = nullptr;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t slot) const { return (slot + 1) & mask(); }
  // The high bits of the product depend on all bits of the key.
  std::size_t first_slot(const void* key) const {
    return (reinterpret_cast<std::uintptr_t>(key) * 0x9E37'79B9'7F4A'7C15u >> 32) & mask();
  }
  // Where the key is, or the free slot where it would be put.
  std::size_t slot_of(const void* key) const {
    std::size_t slot = first_slot(key);
    while (slots_[slot].key && slots_[slot].key != key) slot = next(slot);
    return slot;
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old)
      if (slot.key) slots_[slot_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);  // a power of two
  std::size_t used_ = 0;
};

}  // namespace ebb::torch_adapter
