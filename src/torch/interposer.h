// The boxed fallback that every op of a thread passes while Ebb is on in it. See
// docs/notes/pytorch-adapter.md.
#pragma once

namespace ebb::torch_adapter {

// Switches it on or off for the current thread; threads of autograd inherit it.
void set_listening(bool on);
bool is_listening();

}  // namespace ebb::torch_adapter
