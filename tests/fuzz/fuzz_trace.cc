#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ebb::fuzz::trace({reinterpret_cast<const char*>(data), size});
  return 0;
}
