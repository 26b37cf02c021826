#include "learning/torch_trainer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "learning/gradients.h"
#include "trace/error.h"

namespace ebb::learning {
namespace {

constexpr const char* kModule = "libebb_gradients.so";

decltype(&ebb_make_trainer) load() {
  void* const module = ::dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw SystemError(fmt::format("cannot load {}: {}", kModule, ::dlerror()));
  void* const entry = ::dlsym(module, "ebb_make_trainer");
  if (entry == nullptr) throw SystemError(fmt::format("{} is not ours: {}", kModule, ::dlerror()));
  return reinterpret_cast<decltype(&ebb_make_trainer)>(entry);
}

}  // namespace

bool has_torch() { return true; }

std::unique_ptr<dqn::Trainer> make_torch_trainer(const dqn::Graph& graph, const dqn::Weights& start) {
  static const auto make = load();
  return std::unique_ptr<dqn::Trainer>(make(graph, start));
}

}  // namespace ebb::learning
