// Who wants to know of copies between device and host.
#pragma once

#include "backend/backend.h"
#include "runtime/block.h"

namespace ebb {

class CopyLog {
 public:
  virtual ~CopyLog() = default;
  // Of every one, at present? Otherwise of those that are timed.
  virtual bool wants_all() const = 0;
  // The copy lies between the two events of its engine.
  virtual void copied(Engine engine, const PagedBlock& block, Event start, Event end) = 0;
};

}  // namespace ebb
