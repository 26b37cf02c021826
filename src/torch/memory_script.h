// What an op asks memory for, written down while it runs; and the same asked for once more, without the op.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/exec.h"

namespace ebb::torch_adapter {

class MemoryScript {
 public:
  struct Malloc {
    std::size_t bytes = 0;
    std::byte* address = nullptr;
    bool given_back = false;  // by the op itself
    bool operator==(const Malloc&) const = default;
  };

  void malloced(Handle block, std::size_t bytes, std::byte* address);
  void freed(Handle block);

  // The number of the malloc that got a block; -1: none did.
  int malloc_of(Handle block) const;
  Handle block(std::size_t malloc) const { return blocks_[malloc]; }
  const std::vector<Malloc>& mallocs() const { return mallocs_; }
  // Nothing was given back before the last malloc. Else, asked for once more, memory would be free for others
  // before that is enqueued which uses it.
  bool mallocs_come_first() const { return mallocs_come_first_; }

  bool operator==(const MemoryScript& other) const { return mallocs_ == other.mallocs_; }

 private:
  std::vector<Malloc> mallocs_;
  std::vector<Handle> blocks_;  // that they got
  bool any_given_back_ = false;
  bool mallocs_come_first_ = true;
};

// Thrown through an op that asks for other memory than its script has, where there is no other.
struct OtherMemory {};

// While it lives, the op that runs in this thread gets its memory from a script, in its order. REQUIRES: the
// script outlives it.
class ScriptedMemory {
 public:
  explicit ScriptedMemory(const MemoryScript& script);
  ~ScriptedMemory();
  ScriptedMemory(const ScriptedMemory&) = delete;
  ScriptedMemory& operator=(const ScriptedMemory&) = delete;

  // Null: what comes next in the script is of another size, or nothing.
  std::byte* next(std::size_t bytes);
  bool was_left() const { return was_left_; }  // the op asked for something else
  // Is it memory of the script that this thread follows? Then it is not the op's to free.
  static bool has(const void* address);

 private:
  const MemoryScript& script_;
  const ScriptedMemory* outer_;
  std::size_t next_ = 0;
  bool was_left_ = false;
};

// Asks for a script's memory once more; in the end gives back what the op gave back. REQUIRES: the script's
// mallocs come first, and it outlives this.
class MemoryAgain {
 public:
  MemoryAgain(const MemoryScript& script, ExecContext& context);
  ~MemoryAgain() { give_back(); }
  MemoryAgain(const MemoryAgain&) = delete;
  MemoryAgain& operator=(const MemoryAgain&) = delete;

  bool lies_the_same() const { return script_ == now_; }
  // The script with the memory there is now.
  const MemoryScript& now() const { return now_; }

 private:
  void give_back();

  const MemoryScript& script_;
  ExecContext& context_;
  MemoryScript now_;
};

}  // namespace ebb::torch_adapter
