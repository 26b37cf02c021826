// What a program hands to a Device: ops as functions over handles.
//
// A function reaches memory only through its context, by handle, never by an address or a handle it remembers
// from elsewhere: it may run again later (a replay), when its blocks lie elsewhere, or twice in a row
// (docs/notes/runtime.md). A replayable function therefore owns what it captures, and computes the same
// outputs from the same inputs and seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "trace/program.h"

namespace ebb {

using Handle = std::int64_t;  // a block as the program knows it; never used twice

struct OpInfo {
  std::string_view name;
  Phase phase = Phase::unknown;
  bool replayable = false;  // may be run again to make its outputs from its inputs
  bool random = false;      // uses the seed
  // Resident while it runs, their bytes may change, but its outputs depend on none of them (batch-norm
  // running statistics). In a replay the function gets memory with any bytes in place of each.
  std::span<const Handle> side_effects = {};
};

class ExecContext;
using ExecFunction = std::function<void(ExecContext&)>;

// Of an op that is run again.
enum class SideEffects : char { as_before, none };

class ExecContext {
 public:
  virtual ~ExecContext() = default;
  // REQUIRES: an operand or a birth of this op.
  virtual std::byte* data(Handle block) = 0;
  // A block born in this op. It stays resident until the op ends.
  virtual Handle malloc(Bytes bytes) = 0;
  // At once for a birth of this op; when the op has ended for any other block.
  virtual void free(Handle block) = 0;
  // The same when the op is run again.
  virtual std::uint64_t seed() const = 0;
  // Did an op that is run again malloc this block without having done so the first time? Such a block (a
  // library's cache) is none of its births: it stays, at one address, until it is freed.
  virtual bool is_extra(Handle) const { return false; }
  // May this op be run again? If so, its function may say how; otherwise it is the function that runs again.
  virtual bool wants_recipe() const { return false; }
  // nullptr: it cannot be run again after all. With SideEffects::none it gets no memory for them then.
  virtual void set_recipe(ExecFunction, SideEffects = SideEffects::as_before) {}
};

}  // namespace ebb
