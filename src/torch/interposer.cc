#include "torch/interposer.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_reshape_alias_ops.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/alias_ops.h>
#include <ATen/ops/as_strided_ops.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/convolution_backward_ops.h>
#include <ATen/ops/convolution_ops.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/cudnn_batch_norm_backward_ops.h>
#include <ATen/ops/cudnn_batch_norm_ops.h>
#include <ATen/ops/detach_ops.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/expand_ops.h>
#include <ATen/ops/gelu_backward_ops.h>
#include <ATen/ops/gelu_ops.h>
#include <ATen/ops/max_pool2d_with_indices_backward_ops.h>
#include <ATen/ops/max_pool2d_with_indices_ops.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/native_batch_norm_backward_ops.h>
#include <ATen/ops/native_batch_norm_ops.h>
#include <ATen/ops/native_layer_norm_backward_ops.h>
#include <ATen/ops/native_layer_norm_ops.h>
#include <ATen/ops/permute_ops.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/select_ops.h>
#include <ATen/ops/slice_ops.h>
#include <ATen/ops/split_ops.h>
#include <ATen/ops/squeeze_ops.h>
#include <ATen/ops/sum_ops.h>
#include <ATen/ops/t_ops.h>
#include <ATen/ops/threshold_backward_ops.h>
#include <ATen/ops/transpose_ops.h>
#include <ATen/ops/unsqueeze_ops.h>
#include <ATen/ops/view_ops.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <algorithm>
#include <mutex>

#include "torch/list_parts.h"
#include "torch/op_run.h"
#include "torch/rank_mailbox.h"
#include "torch/torch_version.h"
#include "torch/typed_call.h"

namespace ebb::torch_adapter {
namespace {

using Stack = torch::jit::Stack;
using Lock = std::unique_lock<ReentrantMutex>;

// A mode or subclass of Python's has it next, and what that calls does not come to us again by itself.
bool goes_to_python(c10::DispatchKeySet keys) { return keys.has(c10::DispatchKey::Python); }

c10::DispatchKeySet below_us(c10::DispatchKeySet keys) {
  return keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey);
}

bool has_no_memory(c10::DispatchKeySet keys) { return keys.has_backend(c10::BackendComponent::MetaBit); }

void run_one(Steward& steward, Call& call, Lock& lock) {
  for (;;) {
    const Operands operands = call.operands(steward);
    if (operands.elsewhere()) {
      lock.unlock();
      call.run();
      lock.lock();
      return;
    }
    try {
      return OpRun(steward, call, operands).exec();
    } catch (const WantOfMemory& want) {
      // A collective under way may keep what is wanted.
      if (!want.may_run_again || !steward.wait_for_flight(lock)) Steward::raise(want.message);
    }
  }
}

// The ops it calls come to us by themselves, so the lock must be free; its own tensors stay meanwhile.
void run_opaque(Steward& steward, BoxedCall& call, Lock& lock) {
  const Operands operands = call.operands(steward);
  std::vector<TensorPin> pins;
  for (BlockRecord* record : operands.records) {
    if (steward.running()) break;  // they are its operands
    record->close();
    pins.emplace_back(steward.shared_from_this(), *record, PinFor::writing);
  }
  steward.platform().order_current_after_compute();
  lock.unlock();
  call.run();
  lock.lock();
  steward.platform().order_compute_after_current();
}

// While it lives, the current thread does not listen; nor do threads that inherit its state meanwhile.
class Deaf {
 public:
  Deaf() { set_listening(false); }
  ~Deaf() { set_listening(was_listening_); }
  Deaf(const Deaf&) = delete;
  Deaf& operator=(const Deaf&) = delete;

 private:
  bool was_listening_ = is_listening();
};

// What its threads do later with the tensors, which stay where they are, does not come to us.
void issue(BoxedCall& call, Lock& lock) {
  struct Relock {
    Lock& lock;
    ~Relock() { lock.lock(); }
  };
  lock.unlock();
  const Relock relock{lock};
  const CollectiveIssue issuing;
  const Deaf deaf;
  call.run();
}

// In the program's order it is an op that does nothing: all its tensors are there when it is issued. They
// stay until it is over.
void run_collective(Steward& steward, BoxedCall& call, Lock& lock) {
  const Operands operands = call.operands(steward);
  RankMailbox::instance().tick();
  if (operands.records.empty() || steward.running()) return issue(call, lock);
  const Bytes inside = 0;
  for (;;) {
    try {
      for (BlockRecord* record : operands.records) record->close();
      steward.exec({.name = call.profile().name}, operands, inside, [](ExecContext&) {});
      break;
    } catch (const WantOfMemory& want) {
      if (!steward.wait_for_flight(lock)) Steward::raise(want.message);
    }
  }
  steward.platform().order_current_after_compute();
  HeldBlocks pins;
  for (BlockRecord* record : operands.records) {
    const bool writes =
        std::find(operands.writes.begin(), operands.writes.end(), record->handle) != operands.writes.end();
    pins.push_back(steward.hold(*record, writes ? PinFor::writing : PinFor::reading));
  }
  try {
    issue(call, lock);
  } catch (...) {
    steward.let_go(pins);
    throw;
  }
  steward.platform().order_compute_after_current();
  std::vector<CollectiveWork> works = CollectiveWork::among(call.results());
  if (CollectiveGroup* group = CollectiveGroup::open())
    group->add(std::move(pins));
  else
    steward.take_off(std::move(works), std::move(pins));
  if (steward.options().stress) steward.device().evict_all();
}

void on_op(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::DispatchKeySet below = below_us(keys);
  Steward* steward = Steward::active();
  const bool to_python = goes_to_python(keys);
  if (!steward || (has_no_memory(keys) && !to_python)) return op.redispatchBoxed(below, stack);
  const OpProfile& profile = profile_of(op);
  const Treatment treatment = to_python ? Treatment::opaque : profile.treatment;
  if (treatment == Treatment::pass) return op.redispatchBoxed(below, stack);
  Lock lock(steward->mutex());
  steward->drain();
  if (treatment == Treatment::op && profile.elementwise_lists) {
    const std::vector<std::size_t> cuts = cuts_of(torch::jit::last(*stack, profile.arguments.size()));
    if (cuts.size() > 1) {
      ListParts parts(*stack, profile, cuts);
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        Stack part = parts.arguments(k);
        BoxedCall call(op, profile, below, part);
        run_one(*steward, call, lock);
        parts.add_results(part);
      }
      return parts.finish();
    }
  }
  BoxedCall call(op, profile, below, *stack);
  if (treatment == Treatment::op) return run_one(*steward, call, lock);
  if (treatment == Treatment::collective) return run_collective(*steward, call, lock);
  run_opaque(*steward, call, lock);
}

template <typename Op, typename Result, typename... Arguments>
Result box(c10::DispatchKeySet keys, Arguments... arguments) {
  return c10::impl::BoxedKernelWrapper<Result(Arguments...)>::call(
      c10::BoxedKernel::makeFromFunction<&on_op>(), TypedCall<Op>::handle(), keys,
      std::forward<Arguments>(arguments)...);
}

template <typename Op, typename Schema = typename Op::schema>
struct Typed;

template <typename Op, typename Result, typename... Arguments>
struct Typed<Op, Result(Arguments...)> {
  static Result run(c10::DispatchKeySet keys, Arguments... arguments) {
    // Kept for ever: a thread may be in here when the process ends.
    static const OpProfile& profile = *make_profile(TypedCall<Op>::handle()).release();
    if (goes_to_python(keys) || profile.treatment != Treatment::op)
      return box<Op, Result, Arguments...>(keys, std::forward<Arguments>(arguments)...);
    Steward* steward = Steward::active();
    if (!steward || has_no_memory(keys))
      return Op::redispatch(below_us(keys), std::forward<Arguments>(arguments)...);
    Lock lock(steward->mutex());
    steward->drain();
    TypedCall<Op> call(profile, below_us(keys), std::forward<Arguments>(arguments)...);
    run_one(*steward, call, lock);
    return call.take_result();
  }
};

// Views are made by the hundred and nothing is to be done for them: packing the arguments into a stack would
// be all their cost.
template <typename Op, typename Schema = typename Op::schema>
struct View;

template <typename Op, typename Result, typename... Arguments>
struct View<Op, Result(Arguments...)> {
  static Result run(c10::DispatchKeySet keys, Arguments... arguments) {
    if (!goes_to_python(keys)) return Op::redispatch(below_us(keys), std::forward<Arguments>(arguments)...);
    return box<Op, Result, Arguments...>(keys, std::forward<Arguments>(arguments)...);
  }
};

template <template <typename Op, typename Schema = typename Op::schema> typename Kernel, typename... Ops>
void implement(torch::Library& library) {
  const auto name = [](const char* space, const char* overload) {
    return *overload == 0 ? std::string(space) : std::string(space) + "." + overload;
  };
  (library.impl(name(Ops::name, Ops::overload_name).c_str(), TORCH_FN(Kernel<Ops>::run)), ...);
}

TORCH_LIBRARY_IMPL(_, Fake, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_op>()); }

TORCH_LIBRARY_IMPL(aten, Fake, m) {
  using namespace at::_ops;
  implement<View, _reshape_alias, alias, as_strided, detach, expand, permute, select_int, slice_Tensor,
            split_Tensor, squeeze_dim, t, transpose_int, unsqueeze, view>(m);
  implement<Typed, add_Tensor, add__Tensor, addmm, bmm, convolution, convolution_backward, copy_,
            cudnn_batch_norm, cudnn_batch_norm_backward, div_Tensor, gelu, gelu_backward,
            max_pool2d_with_indices, max_pool2d_with_indices_backward, mm, mul_Tensor, mul__Tensor,
            native_batch_norm, native_batch_norm_backward, native_layer_norm, native_layer_norm_backward,
            relu, relu_, sum_dim_IntList, threshold_backward>(m);
}

}  // namespace

void set_listening(bool on) { c10::impl::tls_set_dispatch_key_included(kKey, on); }

Surfaced::Surfaced() : excluded_(c10::impl::tls_is_dispatch_key_excluded(kKey)) {
  if (excluded_) c10::impl::tls_set_dispatch_key_excluded(kKey, false);
}

Surfaced::~Surfaced() {
  if (excluded_) c10::impl::tls_set_dispatch_key_excluded(kKey, true);
}

bool is_listening() { return c10::impl::tls_is_dispatch_key_included(kKey); }

}  // namespace ebb::torch_adapter
