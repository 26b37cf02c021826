// An emulated link between device and host: how long a copy must take. The times are those of the simulator,
// latency + bytes / bandwidth, and while both directions run both slow down so that their sum keeps a cap:
//
//   out  |==== full rate ====|-- capped --|== full ==|
//   in                       |-- capped --|
#pragma once

#include <condition_variable>
#include <mutex>

#include "backend/backend.h"
#include "simulate/stretch.h"

namespace ebb {

struct LinkOptions {
  Bytes bytes_per_second_out = 0;  // 0 = as fast as memcpy
  Bytes bytes_per_second_in = 0;
  // Cap on the sum while both directions run; 0 = none. Needs both bandwidths.
  Bytes bytes_per_second_both = 0;
  Nanoseconds latency_out = 0;
  Nanoseconds latency_in = 0;
  bool operator==(const LinkOptions&) const = default;
};

class Link {
 public:
  explicit Link(const LinkOptions& options);

  // What the copy takes with the other direction idle.
  Nanoseconds copy_time(Engine direction, Bytes bytes) const;

  // A copy begins; its bytes may be moved meanwhile; `finish` returns when its time is over. The thread
  // sleeps until shortly before, then spins. REQUIRES: direction is out or in, one thread and one copy at a
  // time each.
  void start(Engine direction, Bytes bytes);
  void finish(Engine direction);

 private:
  Task& task_of(Engine direction);
  Task& other_than(Engine direction);

  LinkOptions options_;
  std::int64_t both_stretch_;
  std::mutex mutex_;
  std::condition_variable ends_changed_;
  Task out_;
  Task in_;
};

}  // namespace ebb
