// Makes host slabs on a thread of its own, because pinning takes long, and hands them to the store when they
// are there.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/host_store.h"

namespace ebb {

class SlabMaker {
 public:
  // REQUIRES: both outlive the maker.
  SlabMaker(Backend& backend, HostStore& store) : backend_(backend), store_(store) {}
  ~SlabMaker() {
    if (thread_.joinable()) thread_.join();
  }

  // Has slabs made until the store has that many bytes in all, as far as its limit allows.
  void want(Bytes bytes) {
    if (thread_.joinable() || (promised_ = store_.promise(bytes)) == 0) return;
    done_ = false;
    thread_ = std::thread([this] { make(); });
  }

  // Hands over what was made. false: it is still at work.
  bool finished() {
    if (!thread_.joinable()) return true;
    if (!done_.load(std::memory_order_acquire)) return false;
    thread_.join();
    Bytes made = 0;
    for (const auto& [slab, bytes] : slabs_) store_.adopt(slab, bytes), made += bytes;
    store_.break_promise(promised_ - made);
    slabs_.clear();
    return true;
  }

 private:
  void make() {
    try {
      for (Bytes left = promised_; left > 0;) {
        const Bytes bytes = std::min(left, store_.slab_bytes());
        slabs_.emplace_back(backend_.host_slab(bytes), bytes);
        left -= bytes;
      }
    } catch (const BackendError&) {
      // The machine has no more: copies that need it will say so.
    }
    done_.store(true, std::memory_order_release);
  }

  Backend& backend_;
  HostStore& store_;
  std::thread thread_;
  std::atomic<bool> done_ = false;
  Bytes promised_ = 0;
  std::vector<std::pair<std::byte*, Bytes>> slabs_;
};

}  // namespace ebb
