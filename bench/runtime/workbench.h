// Where steps are measured: a backend, and ops that take a given time on its compute engine.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "machine/machine.h"

namespace ebb {

class Workbench {
 public:
  virtual ~Workbench() = default;
  virtual const char* name() const = 0;
  // A fresh backend; the one before is gone by then.
  virtual std::unique_ptr<Backend> backend() = 0;
  // Takes that long on compute.
  virtual void work(Nanoseconds duration) = 0;
  // What a plain copy reaches, measured or as set.
  virtual Machine machine() = 0;
  // Op times, memory and link speed fit a large step (as on a GPU) or a small one.
  virtual bool is_large() const = 0;
};

std::unique_ptr<Workbench> make_workbench();

}  // namespace ebb
