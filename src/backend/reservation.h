// What a backend has reserved on its device, and the check that every copy keeps to it: a wrong address is an
// error that names offset and size here, not a corrupted tensor later.
#pragma once

#include <string>

#include "backend/backend.h"

namespace ebb {

class Reservation {
 public:
  // Throws if there is a reservation already or the size makes no sense.
  void require_none(Bytes bytes) const;
  void set(std::byte* begin, Bytes bytes);
  std::byte* begin() const { return begin_; }

  // Throws unless the device side of the copy lies inside, the host side outside, and the two do not overlap.
  void check_copy(Engine engine, const std::byte* to, const std::byte* from, Bytes bytes) const;

 private:
  bool contains(const std::byte* at, Bytes bytes) const;
  bool touches(const std::byte* at, Bytes bytes) const;
  std::string place_of(const std::byte* at) const;

  std::byte* begin_ = nullptr;
  Bytes bytes_ = 0;
};

// Throws unless the size of a host slab makes sense.
void require_slab_size(Bytes bytes);

}  // namespace ebb
