#include "backend/host/copy_thread.h"

#include <sys/prctl.h>

#include <cstring>

namespace ebb {

CopyThread::CopyThread(Engine engine, EventBook& book, Link& link)
    : engine_(engine), book_(book), link_(link), thread_([this] { run(); }) {}

CopyThread::~CopyThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  pushed_.notify_one();
  thread_.join();
}

void CopyThread::push(const CopyCommand& command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(command);
  }
  pushed_.notify_one();
}

void CopyThread::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // sleeps of the emulated link end within a microsecond, not fifty
  std::unique_lock lock(mutex_);
  while (true) {
    pushed_.wait(lock, [&] { return closing_ || !commands_.empty(); });
    if (commands_.empty()) return;
    const CopyCommand command = commands_.front();
    commands_.pop_front();
    lock.unlock();
    execute(command);
    lock.lock();
  }
}

void CopyThread::execute(const CopyCommand& command) {
  book_.wait_for(command.wait);
  if (command.bytes > 0) {
    link_.start(engine_, command.bytes);
    std::memcpy(command.to, command.from, static_cast<std::size_t>(command.bytes));
    link_.finish(engine_);
  }
  if (command.mark != kHappened) book_.mark_happened(command.mark);
}

}  // namespace ebb
