#include "torch/memory_script.h"

#include <algorithm>

namespace ebb::torch_adapter {
namespace {

thread_local const ScriptedMemory* followed = nullptr;

}  // namespace

void MemoryScript::malloced(Handle block, std::size_t bytes, std::byte* address) {
  if (any_given_back_) mallocs_come_first_ = false;
  mallocs_.push_back({.bytes = bytes, .address = address});
  blocks_.push_back(block);
}

void MemoryScript::freed(Handle block) {
  const int malloc = malloc_of(block);
  if (malloc < 0) return;
  mallocs_[static_cast<std::size_t>(malloc)].given_back = any_given_back_ = true;
}

int MemoryScript::malloc_of(Handle block) const {
  const auto it = std::find(blocks_.begin(), blocks_.end(), block);
  return it == blocks_.end() ? -1 : static_cast<int>(it - blocks_.begin());
}

ScriptedMemory::ScriptedMemory(const MemoryScript& script) : script_(script), outer_(followed) {
  followed = this;
}

ScriptedMemory::~ScriptedMemory() { followed = outer_; }

std::byte* ScriptedMemory::next(std::size_t bytes) {
  const std::vector<MemoryScript::Malloc>& mallocs = script_.mallocs();
  if (next_ < mallocs.size() && mallocs[next_].bytes == bytes) return mallocs[next_++].address;
  was_left_ = true;
  return nullptr;
}

bool ScriptedMemory::has(const void* address) {
  if (!followed) return false;
  const std::vector<MemoryScript::Malloc>& mallocs = followed->script_.mallocs();
  return std::any_of(mallocs.begin(), mallocs.end(),
                     [&](const MemoryScript::Malloc& malloc) { return malloc.address == address; });
}

MemoryAgain::MemoryAgain(const MemoryScript& script, ExecContext& context)
    : script_(script), context_(context) {
  try {
    for (const MemoryScript::Malloc& malloc : script.mallocs()) {
      const Handle block = context.malloc(static_cast<Bytes>(malloc.bytes));
      now_.malloced(block, malloc.bytes, context.data(block));
    }
  } catch (...) {
    give_back();  // the frame takes back what it knows to be the op's
    throw;
  }
  for (std::size_t k = 0; k < script.mallocs().size(); ++k)
    if (script.mallocs()[k].given_back) now_.freed(now_.block(k));
}

void MemoryAgain::give_back() {
  for (std::size_t k = 0; k < now_.mallocs().size(); ++k)
    if (now_.mallocs()[k].given_back || context_.is_extra(now_.block(k))) context_.free(now_.block(k));
}

}  // namespace ebb::torch_adapter
