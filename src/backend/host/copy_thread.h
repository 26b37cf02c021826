// A copy engine of the host backend: a thread that does what is enqueued, in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "backend/host/event_book.h"
#include "backend/host/link.h"

namespace ebb {

// Waits, then copies, then marks; each is left out by its default.
struct CopyCommand {
  Event wait = kHappened;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  Bytes bytes = 0;
  Event mark = kHappened;
};

class CopyThread {
 public:
  // REQUIRES: book and link outlive the thread.
  CopyThread(Engine engine, EventBook& book, Link& link);
  // Does what is still enqueued first. It ends because waits name events recorded before them.
  ~CopyThread();
  CopyThread(const CopyThread&) = delete;
  CopyThread& operator=(const CopyThread&) = delete;

  void push(const CopyCommand& command);

 private:
  void run();
  void execute(const CopyCommand& command);

  Engine engine_;
  EventBook& book_;
  Link& link_;
  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<CopyCommand> commands_;
  bool closing_ = false;
  std::thread thread_;  // last: it runs on all of the above
};

}  // namespace ebb
