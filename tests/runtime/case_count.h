// How many random cases a test runs: more with EBB_SOAK=1, fewer where a sanitizer makes each of them slow.
#pragma once

#include <cstdlib>

namespace ebb::testing {

inline int case_count(int usual, int times_in_a_soak) {
  if (std::getenv("EBB_SOAK")) return usual * times_in_a_soak;
#if defined(__SANITIZE_THREAD__)
  return (usual + 3) / 4;
#elif defined(__SANITIZE_ADDRESS__)
  return (usual + 1) / 2;
#else
  return usual;
#endif
}

}  // namespace ebb::testing
