// Plain memory aligned to 4 KiB; empty by default, move-only. It comes from the C++ allocator and not from
// mmap, so that AddressSanitizer watches both its ends.
#pragma once

#include <memory>
#include <new>
#include <string>

#include "backend/backend.h"

namespace ebb {

class AlignedMemory {
 public:
  AlignedMemory() = default;
  // Throws BackendError, naming what the memory was for and its size.
  AlignedMemory(Bytes bytes, const char* purpose) : memory_(allocate(bytes, purpose)) {}
  std::byte* get() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  static std::byte* allocate(Bytes bytes, const char* purpose) {
    void* memory = ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow);
    if (!memory)
      throw BackendError(std::string(purpose) + " of " + std::to_string(bytes) + " bytes: out of memory");
    return static_cast<std::byte*>(memory);
  }
  std::unique_ptr<std::byte, Release> memory_;
};

}  // namespace ebb
