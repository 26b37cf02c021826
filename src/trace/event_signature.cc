#include "trace/event_signature.h"

namespace ebb {
namespace {

class SignatureMixer {
 public:
  void add(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  std::uint64_t result() const { return state_; }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};

}  // namespace

std::vector<std::uint64_t> event_signatures(const Trace& trace, const std::vector<BlockHistory>& blocks) {
  const auto bytes_of = [&blocks](BlockId block) {
    return static_cast<std::uint64_t>(blocks[static_cast<std::size_t>(block)].bytes);
  };
  std::vector<std::uint64_t> signatures;
  signatures.reserve(trace.events.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    SignatureMixer mixer;
    mixer.add(static_cast<std::uint64_t>(event.kind));
    if (event.kind == EventKind::exec)
      mixer.add(event.name * std::uint64_t{256} + static_cast<unsigned char>(event.phase));
    for (const Access& access : trace.accesses_of(i)) {
      mixer.add((access.reads ? 1u : 0u) | (access.writes ? 2u : 0u) | (access.side_effect ? 4u : 0u));
      mixer.add(bytes_of(access.block));
    }
    for (const MemoryEvent& memory : trace.memory_of(i)) {
      mixer.add(memory.is_malloc ? 8 : 9);
      mixer.add(bytes_of(memory.block));
    }
    signatures.push_back(mixer.result());
  }
  return signatures;
}

}  // namespace ebb
