#include "torch/op_run.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>

#include "runtime/op_frame.h"
#include "torch/torch_version.h"

namespace ebb::torch_adapter {
namespace {

thread_local int integers_stay = 0;  // scopes that are open

}  // namespace

IntegersStay::IntegersStay() { ++integers_stay; }
IntegersStay::~IntegersStay() { --integers_stay; }

OpRun::OpRun(Steward& steward, Call& call, const Operands& operands)
    : steward_(steward),
      call_(call),
      profile_(call.profile()),
      operands_(operands),
      replayable_(profile_.replayable && !steward.running()) {}

void OpRun::exec() {
  for (BlockRecord* record : operands_.records) record->close();
  call_.keep_arguments();
  const bool moves = steward_.options().mode != Mode::observe;
  if (profile_.random) generator_argument_ = call_.generator();
  if (moves && profile_.random) generator_ = steward_.platform().save_generator(generator_argument_);
  const OpInfo info{.name = profile_.name,
                    .phase = Phase::unknown,
                    .replayable = replayable_,
                    .random = profile_.random,
                    .side_effects = {operands_.side_effects.data(), operands_.side_effects.size()}};
  try {
    steward_.exec(info, operands_, inside_, [this](ExecContext& context) { run(context); });
  } catch (WantOfMemory& want) {
    want.may_run_again = attempts_ == 0 || (operands_.writes.empty() && operands_.side_effects.empty());
    if (attempts_ > 0) prepare_attempt();
    throw;
  }
  settle();
}

void OpRun::prepare_attempt() {
  if (attempts_++ == 0) return;
  call_.restore_arguments();
  if (generator_) generator_->restore();
}

// Before the op runs: it may change the shapes of its arguments.
std::shared_ptr<CallRecipe> OpRun::make_recipe() const {
  std::shared_ptr<CallRecipe> recipe = steward_.recipes().take(steward_, call_.op(), call_.below());
  if (profile_.side_effects_are_optional && operands_.side_effects_are_nothing_else())
    recipe->leave_side_effects_out();
  if (!call_.remember(*recipe)) return nullptr;
  if (generator_) recipe->set_generator(generator_, generator_argument_);
  return recipe;
}

void OpRun::run(ExecContext& context) {
  prepare_attempt();
  const bool wants_recipe = replayable_ && context.wants_recipe();
  const std::shared_ptr<CallRecipe> recipe = wants_recipe ? make_recipe() : nullptr;
  RunningOp running{.context = &context};
  const RunningEntry entry(steward_, running);
  try {
    const c10::impl::ExcludeDispatchKeyGuard guard(kKey);
    steward_.platform().order_current_after_compute();
    call_.run();
    steward_.platform().order_compute_after_current();
  } catch (const AbandonOp&) {
    steward_.platform().order_compute_after_current();
    inside_ = std::max(inside_, running.inside_peak);
    // Somebody keeps memory that the op is about to lose.
    if (!running.births.empty())
      throw OutOfMemory("op " + profile_.name +
                        ": no room, and it cannot be run again because it keeps memory");
    throw;
  } catch (...) {
    steward_.platform().order_compute_after_current();
    inside_ = std::max(inside_, running.inside_peak);
    throw;
  }
  inside_ = std::max(inside_, running.inside_peak);
  take_results(running, recipe.get());
  const bool shows_all = hidden_.empty() && !result_without_storage_;
  if (!replayable_) return;
  if (!shows_all || (wants_recipe && !recipe)) return context.set_recipe(nullptr);
  if (!recipe) return;
  context.set_recipe([recipe](ExecContext& replayed) { recipe->replay(replayed); },
                     recipe->has_side_effects() ? SideEffects::as_before : SideEffects::none);
}

// Makes the blocks known that were born for results, and tells the recipe, if there is one.
void OpRun::take_results(RunningOp& running, CallRecipe* recipe) {
  const auto is_born = [&](BlockRecord* record) {
    return std::find(running.births.begin(), running.births.end(), record) != running.births.end();
  };
  c10::SmallVector<Handle, 4> results;
  call_.for_each_result([&](const at::Tensor& tensor) {
    const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
    if (!storage) result_without_storage_ = true;
    BlockRecord* record = running.births.empty() ? nullptr : steward_.record_of(storage);
    if (recipe) results.push_back(record && is_born(record) ? record->handle : 0);
  });
  if (recipe) recipe->set_results(results);
  for (BlockRecord* birth : running.births) {
    if (birth->storage.expired())
      hidden_.push_back(birth);
    else if (profile_.uninitialised)
      unwritten_.push_back(birth);
  }
}

void OpRun::keep_integers() {
  call_.for_each_result([&](const at::Tensor& tensor) {
    if (!at::isIntegralType(tensor.scalar_type(), false)) return;
    BlockRecord* record = steward_.record_of(tensor.unsafeGetTensorImpl()->unsafe_storage());
    if (record) steward_.pin_for_life(*record);
  });
}

void OpRun::settle() {
  if (steward_.running()) return;
  for (BlockRecord* record : hidden_) steward_.pin_for_life(*record);
  if (result_without_storage_)
    for (BlockRecord* record : operands_.records) steward_.pin_for_life(*record);
  for (BlockRecord* record : unwritten_) steward_.open(*record, PinFor::writing);
  if (integers_stay > 0) keep_integers();
  if (steward_.options().stress) steward_.device().evict_all();
}

}  // namespace ebb::torch_adapter
