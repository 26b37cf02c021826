#include "planners/chain/chain.h"

#include <algorithm>

namespace ebb {

Nanoseconds Chain::compute_time() const {
  Nanoseconds total = 0;
  for (const ChainLayer& layer : layers) total += layer.forward + layer.backward;
  return total;
}

Nanoseconds Chain::transfer_time(Bytes bytes) const {
  constexpr __int128 kSecond = 1'000'000'000;
  return static_cast<Nanoseconds>((bytes * kSecond + bandwidth - 1) / bandwidth);
}

Bytes Chain::peak() const {
  Bytes held = 0;
  Bytes most = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    held += x(i);
    most = std::max({most, held + forward_need(i), held + backward_need(i)});
  }
  return most;
}

Bytes Chain::smallest_memory() const {
  Bytes most = 0;
  for (std::size_t i = 0; i < size(); ++i)
    most = std::max({most, x(i) + forward_need(i), x(i) + backward_need(i)});
  return most;
}

Nanoseconds Chain::lower_bound(Bytes memory) const {
  return std::max(compute_time(), transfer_time(2 * std::max<Bytes>(0, peak() - memory)));
}

}  // namespace ebb
