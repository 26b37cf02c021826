// The base of wrappers: passes everything on to the backend it owns. A wrapper overrides what it changes, and
// wrappers stack:
//
//   auto slow = std::make_unique<SlowCopies>(std::make_unique<HostBackend>(options),
//   SlowCopies::Options{.times = 3}); RecordingBackend backend(std::move(slow));
#pragma once

#include <memory>
#include <utility>

#include "backend/backend.h"

namespace ebb {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}
  Backend& inner() { return *inner_; }

  std::byte* reserve(Bytes bytes) override { return inner_->reserve(bytes); }
  std::byte* host_slab(Bytes bytes) override { return inner_->host_slab(bytes); }
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) override {
    inner_->copy(engine, to, from, bytes);
  }
  Event record(Engine engine, Stamp stamp = Stamp::none) override { return inner_->record(engine, stamp); }
  void wait(Engine engine, Event event) override { inner_->wait(engine, event); }
  bool happened(Event event) override { return inner_->happened(event); }
  void synchronize(Event event) override { inner_->synchronize(event); }
  Nanoseconds elapsed(Event from, Event to) override { return inner_->elapsed(from, to); }

 private:
  std::unique_ptr<Backend> inner_;
};

}  // namespace ebb
