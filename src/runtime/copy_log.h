// Who wants to know of every copy between device and host.
#pragma once

#include "backend/backend.h"
#include "runtime/block.h"

namespace ebb {

class CopyLog {
 public:
  virtual ~CopyLog() = default;
  // The copy lies between the two events of its engine.
  virtual void copied(Engine engine, const PagedBlock& block, Event start, Event end) = 0;
};

}  // namespace ebb
