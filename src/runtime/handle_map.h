// What belongs to blocks that live, by handle. A handle is a serial number and, in its low bits, a slot that
// no other block has while it lives, so that a look-up is one access to an array.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/exec.h"

namespace ebb {

inline constexpr int kSlotBits = 24;  // 16 million blocks at a time
inline constexpr std::size_t slot_of(Handle handle) {
  return static_cast<std::size_t>(handle) & ((std::size_t{1} << kSlotBits) - 1);
}
inline constexpr Handle make_handle(std::int64_t serial, std::size_t slot) {
  return serial << kSlotBits | static_cast<Handle>(slot);
}

template <typename Value>
class HandleMap {
 public:
  // nullptr: there is none.
  Value* find(Handle handle) {
    const std::size_t slot = slot_of(handle);
    return slot < entries_.size() && entries_[slot].first == handle ? &entries_[slot].second : nullptr;
  }
  const Value* find(Handle handle) const { return const_cast<HandleMap*>(this)->find(handle); }
  bool contains(Handle handle) const { return find(handle) != nullptr; }
  // Whatever was in the slot goes.
  void set(Handle handle, Value value) {
    const std::size_t slot = slot_of(handle);
    if (slot >= entries_.size()) entries_.resize(slot + 1);
    entries_[slot].first = handle;
    entries_[slot].second = std::move(value);
  }
  void erase(Handle handle) {
    if (contains(handle)) entries_[slot_of(handle)] = {};
  }

  // In the order of slots. REQUIRES: `visit` changes values only.
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (auto& [handle, value] : entries_)
      if (handle != 0) visit(handle, value);
  }

 private:
  std::vector<std::pair<Handle, Value>> entries_;  // by slot; handle 0: none
};

}  // namespace ebb
