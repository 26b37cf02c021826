#include "torch/interposer.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <mutex>

#include "torch/list_parts.h"
#include "torch/op_run.h"
#include "torch/tensor_args.h"
#include "torch/torch_version.h"

namespace ebb::torch_adapter {
namespace {

using Stack = torch::jit::Stack;
using Lock = std::unique_lock<std::recursive_mutex>;

// Nothing of it is ours to look at: a mode or subclass of Python's, or no memory at all.
bool is_out_of_sight(c10::DispatchKeySet keys) {
  return keys.has(c10::DispatchKey::Python) || keys.has_backend(c10::BackendComponent::MetaBit);
}

void run_one(Steward& steward, const OpProfile& profile, const c10::OperatorHandle& op,
             c10::DispatchKeySet below, Stack& stack, Lock& lock) {
  const Operands operands = operands_of(steward, profile, torch::jit::last(stack, profile.arguments.size()));
  const bool elsewhere = !operands.on_device && !operands.asks_for_device &&
                         (operands.has_tensors || !steward.platform().device().is_cpu());
  if (elsewhere) {
    lock.unlock();
    op.redispatchBoxed(below, &stack);
    lock.lock();
    return;
  }
  OpRun(steward, profile, op, below, stack, operands).exec();
}

// The ops it calls come to us by themselves, so the lock must be free; its own tensors stay meanwhile.
void run_opaque(Steward& steward, const OpProfile& profile, const c10::OperatorHandle& op,
                c10::DispatchKeySet below, Stack& stack, Lock& lock) {
  const Operands operands = operands_of(steward, profile, torch::jit::last(stack, profile.arguments.size()));
  std::vector<TensorPin> pins;
  for (BlockRecord* record : operands.records) {
    if (steward.running()) break;  // they are its operands
    record->open.release();
    if (profile.treatment == Treatment::collective)
      steward.pin_for_life(*record);
    else
      pins.emplace_back(steward.shared_from_this(), *record, PinFor::writing);
  }
  lock.unlock();
  op.redispatchBoxed(below, &stack);
  lock.lock();
}

void on_op(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey);
  Steward* steward = Steward::active();
  if (!steward || is_out_of_sight(keys)) return op.redispatchBoxed(below, stack);
  const OpProfile& profile = profile_of(op);
  if (profile.treatment == Treatment::pass) return op.redispatchBoxed(below, stack);
  Lock lock(steward->mutex());
  steward->drain();
  if (profile.treatment != Treatment::op) return run_opaque(*steward, profile, op, below, *stack, lock);
  if (profile.elementwise_lists) {
    const c10::ArrayRef<c10::IValue> arguments = torch::jit::last(*stack, profile.arguments.size());
    const std::vector<std::size_t> cuts = cuts_of(arguments);
    if (cuts.size() > 1) {
      ListParts parts(*stack, profile, cuts);
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        Stack part = parts.arguments(k);
        run_one(*steward, profile, op, below, part, lock);
        parts.add_results(part);
      }
      return parts.finish();
    }
  }
  run_one(*steward, profile, op, below, *stack, lock);
}

TORCH_LIBRARY_IMPL(_, Fake, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_op>()); }

}  // namespace

void set_listening(bool on) { c10::impl::tls_set_dispatch_key_included(kKey, on); }

bool is_listening() { return c10::impl::tls_is_dispatch_key_included(kKey); }

}  // namespace ebb::torch_adapter
