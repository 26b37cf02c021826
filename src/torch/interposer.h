// The boxed fallback that every op of a thread passes while Ebb is on in it. See
// docs/notes/pytorch-adapter.md.
#pragma once

namespace ebb::torch_adapter {

// Switches it on or off for the current thread; threads of autograd inherit it.
void set_listening(bool on);
bool is_listening();

// While it lives, ops are seen that the current thread calls from inside a __torch_dispatch__, where torch
// hides them from every key above Python's. REQUIRES: destroyed in the thread that made it, in reverse order.
class Surfaced {
 public:
  Surfaced();
  ~Surfaced();
  Surfaced(const Surfaced&) = delete;
  Surfaced& operator=(const Surfaced&) = delete;

 private:
  bool excluded_;
};

}  // namespace ebb::torch_adapter
