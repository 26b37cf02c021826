#include "report/kinds.h"

#include <algorithm>
#include <utility>

namespace ebb::report {
namespace {

bool persists(const Program& program, BlockId b) { return program.block(b).lifetime == Lifetime::persistent; }

bool changes_what_persists(const Program& program, OpIndex i) {
  const auto& accesses = program.op(i).accesses;
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    return access.writes && !access.side_effect && program.managed(access.block) &&
           persists(program, access.block);
  });
}

bool changes_in_place(const Program& program, OpIndex i) {
  const auto& accesses = program.op(i).accesses;
  return changes_what_persists(program, i) &&
         std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
           return access.reads && access.writes && !access.side_effect && persists(program, access.block);
         });
}

// The shortest stretch around the ring of n ops that holds all of these: [begin, end), end <= 2n.
OpRange shortest_around(const std::vector<OpIndex>& ops, OpIndex n) {
  if (ops.empty()) return {};
  OpRange best{ops.front(), ops.back() + 1};
  for (std::size_t k = 1; k < ops.size(); ++k)
    if (ops[k - 1] + n + 1 - ops[k] < best.end - best.begin) best = {ops[k], ops[k - 1] + n + 1};
  return best;
}

OpRange update_stretch(const Program& program) {
  std::vector<OpIndex> changing;
  for (OpIndex i = 0; i < program.op_count(); ++i)
    if (changes_what_persists(program, i)) changing.push_back(i);
  return shortest_around(changing, program.op_count());
}

class Ring {
 public:
  Ring(OpIndex n, OpRange stretch) : n_(n), stretch_(stretch) {}
  bool in_stretch(OpIndex i) const {
    return (stretch_.begin <= i && i < stretch_.end) || i + n_ < stretch_.end;
  }
  // Ops since the stretch ended.
  OpIndex after_stretch(OpIndex i) const { return (i - stretch_.end % n_ + n_) % n_; }

 private:
  OpIndex n_;
  OpRange stretch_;
};

// The earliest op after the update that gives birth to something the update reads: the first gradient of a
// weight, with which backward begins.
OpIndex first_gradient(const Program& program, const Ring& ring) {
  OpIndex first = program.op_count();
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const OpIndex birth = program.block(b).birth;
    if (birth == kNoOp || ring.in_stretch(birth) || !program.managed(b)) continue;
    const auto accesses = program.accesses(b);
    if (std::any_of(accesses.begin(), accesses.end(),
                    [&](const BlockAccess& access) { return access.reads && ring.in_stretch(access.op); }))
      first = std::min(first, ring.after_stretch(birth));
  }
  return first;
}

bool says_backward(const Op& op) { return op.name.find("ackward") != std::string::npos; }

// PyTorch's ops say in their names what they are for. Nothing if none does.
std::vector<Phase> tell_phases_by_name(const Program& program) {
  const OpIndex n = program.op_count();
  std::vector<OpIndex> backward;
  for (OpIndex i = 0; i < n; ++i)
    if (says_backward(program.op(i))) backward.push_back(i);
  if (backward.empty()) return {};
  const OpRange stretch = shortest_around(backward, n);
  const Ring ring(n, stretch);
  OpIndex update = -1;  // ops after backward that are still the update
  for (OpIndex i = 0; i < n; ++i)
    if (!ring.in_stretch(i) && changes_in_place(program, i)) update = std::max(update, ring.after_stretch(i));
  std::vector<Phase> phases;
  for (OpIndex i = 0; i < n; ++i)
    phases.push_back(ring.in_stretch(i)                ? Phase::backward
                     : ring.after_stretch(i) <= update ? Phase::update
                                                       : Phase::forward);
  return phases;
}

std::vector<Phase> tell_phases(const Program& program) {
  if (std::vector<Phase> phases = tell_phases_by_name(program); !phases.empty()) return phases;
  const OpIndex n = program.op_count();
  std::vector<Phase> phases(static_cast<std::size_t>(n), Phase::unknown);
  const OpRange stretch = update_stretch(program);
  // Gradients that persist are written all through backward: then nothing can be told apart.
  if (stretch.end == stretch.begin || 2 * (stretch.end - stretch.begin) > n) return phases;
  const Ring ring(n, stretch);
  const OpIndex backward = first_gradient(program, ring);
  for (OpIndex i = 0; i < n; ++i)
    phases[static_cast<std::size_t>(i)] = ring.in_stretch(i)                 ? Phase::update
                                          : ring.after_stretch(i) < backward ? Phase::forward
                                                                             : Phase::backward;
  return phases;
}

MemoryKind kind_of_persistent(const Program& program, BlockId b, const std::vector<Phase>& phases) {
  bool in_update = false, outside = false, filled_in_backward = false;
  for (const BlockAccess& access : program.accesses(b)) {
    const Phase phase = phases[static_cast<std::size_t>(access.op)];
    (phase == Phase::update ? in_update : phase == Phase::zero_grad ? in_update : outside) = true;
    filled_in_backward |= phase == Phase::backward && access.writes;
  }
  if (filled_in_backward && in_update) return MemoryKind::gradients;
  return in_update && !outside ? MemoryKind::optimizer : MemoryKind::weights;
}

}  // namespace

std::vector<Phase> phases_of(const Program& program) {
  std::vector<Phase> phases;
  for (const Op& op : program.ops()) phases.push_back(op.phase);
  const bool recorded =
      std::any_of(phases.begin(), phases.end(), [](Phase p) { return p != Phase::unknown; });
  return recorded ? phases : tell_phases(program);
}

std::vector<MemoryKind> kinds_of(const Program& program, const std::vector<Phase>& phases) {
  std::vector<MemoryKind> kinds;
  for (BlockId b = 0; b < program.block_count(); ++b) {
    if (persists(program, b)) {
      kinds.push_back(kind_of_persistent(program, b, phases));
      continue;
    }
    switch (phases[static_cast<std::size_t>(program.block(b).birth)]) {
      case Phase::backward:
        kinds.push_back(MemoryKind::gradients);
        break;
      case Phase::update:
      case Phase::zero_grad:
        kinds.push_back(MemoryKind::workspace);
        break;
      case Phase::forward:
      case Phase::unknown:
        kinds.push_back(MemoryKind::activations);
        break;
    }
  }
  return kinds;
}

std::string_view name_of(MemoryKind kind) {
  static constexpr std::array<std::string_view, kMemoryKinds> kNames = {
      "weights", "optimizer state", "gradients", "activations", "workspace"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace ebb::report
