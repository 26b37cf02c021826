#include "torch/recipe.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "torch/op_profile.h"
#include "torch/tensor_args.h"
#include "torch/torch_version.h"
#include "trace/error.h"

namespace ebb::torch_adapter {
namespace {

constexpr std::size_t kMostSpare = 64;       // recipes
constexpr std::size_t kLargestValue = 4096;  // bytes of a tensor remembered by value

// Every key from Python's upwards: what has been dealt with before an op arrives at ours.
c10::DispatchKeySet keys_above() {
  return c10::DispatchKeySet(c10::DispatchKeySet::FULL) -
         c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Python);
}

c10::intrusive_ptr<c10::StorageImpl> borrowed_storage(std::byte* memory, std::size_t bytes,
                                                      c10::Device device) {
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                               c10::DataPtr(memory, device), nullptr, false);
}

at::Tensor make_tensor(c10::Storage storage, c10::DispatchKeySet keys, caffe2::TypeMeta type,
                       at::IntArrayRef sizes, at::IntArrayRef strides, std::int64_t offset, bool wrapped) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, type);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  if (wrapped) tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

at::Tensor copy_of(const at::Tensor& tensor) {
  const std::size_t bytes = tensor.storage().nbytes();
  void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (bytes > 0) std::memcpy(memory, tensor.storage().unsafeGetStorageImpl()->data(), bytes);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes,
      c10::DataPtr(memory, memory, &std::free, c10::Device(c10::DeviceType::CPU)), nullptr, false);
  return make_tensor(c10::Storage(std::move(storage)), tensor.key_set(), tensor.dtype(), tensor.sizes(),
                     tensor.strides(), tensor.storage_offset(),
                     tensor.unsafeGetTensorImpl()->is_wrapped_number());
}

bool is_plain(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  return impl->has_storage() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         !impl->has_named_tensor_meta();
}

// Where nothing else has a type of its own, that of batch norm's statistics decides which type it returns.
bool can_leave_side_effects_out(const OpProfile& profile, c10::ArrayRef<c10::IValue> arguments) {
  const c10::IValue& weight = arguments[1];
  return profile.trains(arguments) && weight.isTensor() && weight.toTensor().defined();
}

}  // namespace

void CallRecipe::begin(const c10::OperatorHandle& op, c10::DispatchKeySet below) {
  op_ = op;
  below_ = below;
}

void CallRecipe::clear() {
  arguments_.clear();
  plain_.clear();
  forms_.clear();
  shapes_.clear();
  values_.clear();
  tensors_.clear();
  results_.clear();
  leaves_side_effects_out_ = false;
  generator_state_.reset();
  generator_.reset();
}

bool CallRecipe::add(c10::ArrayRef<c10::IValue> arguments) {
  arguments_.reserve(arguments.size());
  if (leaves_side_effects_out_) return add_without_side_effects(arguments);
  return std::all_of(arguments.begin(), arguments.end(),
                     [&](const c10::IValue& argument) { return add_argument(argument); });
}

bool CallRecipe::add_without_side_effects(c10::ArrayRef<c10::IValue> arguments) {
  const OpProfile& profile = profile_of(op_);
  leaves_side_effects_out_ = can_leave_side_effects_out(profile, arguments);
  const c10::IValue none;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool left_out = leaves_side_effects_out_ && profile.arguments[i].side_effect;
    if (!add_argument(left_out ? none : arguments[i])) return false;
  }
  return true;
}

void CallRecipe::add_block(const BlockRecord& record, const at::Tensor& tensor) {
  const at::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  forms_.push_back({.block = record.handle,
                    .storage_bytes = tensor.storage().nbytes(),
                    .keys = tensor.key_set(),
                    .offset = tensor.storage_offset(),
                    .at = static_cast<std::uint32_t>(shapes_.size()),
                    .dims = static_cast<std::uint32_t>(sizes.size()),
                    .type = tensor.dtype(),
                    .wrapped_number = tensor.unsafeGetTensorImpl()->is_wrapped_number()});
  shapes_.insert(shapes_.end(), sizes.begin(), sizes.end());
  shapes_.insert(shapes_.end(), strides.begin(), strides.end());
}

void CallRecipe::add_value(at::Tensor value) {
  forms_.push_back({.at = static_cast<std::uint32_t>(values_.size())});
  values_.push_back(std::move(value));
}

bool CallRecipe::add_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    tensors_.push_back(-1);
    return true;
  }
  if (!is_plain(tensor)) return false;
  tensors_.push_back(static_cast<int>(forms_.size()));
  if (const BlockRecord* record = steward_.record_of(tensor.storage()))
    add_block(*record, tensor);
  else if (tensor.device().is_cpu() && tensor.storage().nbytes() <= kLargestValue)
    add_value(copy_of(tensor));
  else if (tensor.numel() == 0 && tensor.storage().nbytes() == 0)
    add_value(make_tensor(c10::Storage(borrowed_storage(nullptr, 0, tensor.device())), tensor.key_set(),
                          tensor.dtype(), tensor.sizes(), tensor.strides(), 0, false));
  else
    return false;
  return true;
}

bool CallRecipe::add_argument(const c10::IValue& value) {
  Argument& argument = arguments_.emplace_back();
  argument.first = static_cast<std::uint32_t>(tensors_.size());
  if (value.isTensor()) {
    argument.kind = Argument::Kind::tensor;
    if (!add_tensor(value.toTensor())) return false;
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    argument.kind = value.isTensorList() ? Argument::Kind::tensor_list : Argument::Kind::optional_tensor_list;
    for (const c10::IValue& element : value.toListRef())
      if (!add_tensor(element.isTensor() ? element.toTensor() : at::Tensor())) return false;
  } else if (value.isStorage() || value.isObject() || value.isPyObject() || value.isCapsule()) {
    return false;
  } else {
    argument.first = static_cast<std::uint32_t>(plain_.size());
    plain_.push_back(value);
  }
  argument.last = static_cast<std::uint32_t>(tensors_.size());
  return true;
}

CallRecipe::Places CallRecipe::places_in(ExecContext& context) const {
  Places places;
  for (const TensorForm& form : forms_)
    places.push_back(form.block == 0 ? nullptr : context.data(form.block));
  return places;
}

CallRecipe::Tensors CallRecipe::make_tensors(const Places& places) const {
  Tensors tensors;
  for (std::size_t k = 0; k < forms_.size(); ++k) {
    const TensorForm& form = forms_[k];
    if (form.block == 0) {
      tensors.push_back(values_[form.at]);
      continue;
    }
    // Tensors of one block share a storage, as they did the first time.
    c10::Storage storage;
    for (std::size_t i = 0; i < tensors.size() && !storage; ++i)
      if (forms_[i].block == form.block) storage = tensors[i].storage();
    if (!storage) storage = c10::Storage(borrowed_storage(places[k], form.storage_bytes, steward_.place()));
    const std::int64_t* shape = shapes_.data() + form.at;
    tensors.push_back(make_tensor(std::move(storage), form.keys, form.type, {shape, form.dims},
                                  {shape + form.dims, form.dims}, form.offset, form.wrapped_number));
  }
  return tensors;
}

torch::jit::Stack CallRecipe::make_stack(const Places& places) const {
  const Tensors tensors = make_tensors(places);
  const auto tensor_at = [&](std::size_t k) {
    return tensors_[k] < 0 ? at::Tensor() : tensors[static_cast<std::size_t>(tensors_[k])];
  };
  torch::jit::Stack stack;
  stack.reserve(arguments_.size());
  for (const Argument& argument : arguments_) {
    switch (argument.kind) {
      case Argument::Kind::plain:
        stack.push_back(plain_[argument.first]);
        break;
      case Argument::Kind::tensor:
        stack.emplace_back(tensor_at(argument.first));
        break;
      case Argument::Kind::tensor_list: {
        c10::List<at::Tensor> list;
        for (std::size_t k = argument.first; k < argument.last; ++k) list.push_back(tensor_at(k));
        stack.emplace_back(std::move(list));
        break;
      }
      case Argument::Kind::optional_tensor_list: {
        c10::List<c10::optional<at::Tensor>> list;
        for (std::size_t k = argument.first; k < argument.last; ++k)
          list.push_back(tensors_[k] < 0 ? c10::optional<at::Tensor>()
                                         : c10::optional<at::Tensor>(tensor_at(k)));
        stack.emplace_back(std::move(list));
        break;
      }
    }
  }
  return stack;
}

void CallRecipe::replay(ExecContext& context) const {
  const Places places = places_in(context);
  CapturedReplay* replay = known(places);
  if (!replay)
    run(context, places, nullptr);
  else if (replay->work)
    run_again(*replay, context, places);
  else
    run_and_learn(*replay, context, places);
}

void CallRecipe::run(ExecContext& context, const Places& places, MemoryScript* script,
                     ScriptedMemory* scripted) const {
  torch::jit::Stack stack = make_stack(places);
  RunningOp running{.context = &context, .replay = true, .script = script, .scripted = scripted};
  const RunningEntry entry(steward_, running);
  // Whatever is left of its births then is the runtime's: their records must free nothing.
  struct KeepBirths {
    RunningOp& running;
    Steward& steward;
    ~KeepBirths() {
      for (BlockRecord* birth : running.births)
        if (running.context->is_extra(birth->handle))
          steward.keep_extra(*birth);
        else
          birth->kept = true;
    }
  } keep_births{running, steward_};
  struct RestoreGenerator {
    std::unique_ptr<GeneratorState> now;
    ~RestoreGenerator() {
      if (now) now->restore();
    }
  } restore;
  if (generator_state_) {
    restore.now = steward_.platform().save_generator(generator_);
    generator_state_->restore();
  }
  const c10::impl::ExcludeDispatchKeyGuard guard(keys_above());
  steward_.platform().order_current_after_compute();
  op_.redispatchBoxed(below_, &stack);
  steward_.platform().order_compute_after_current();
  check_results(context, stack);
}

CapturedReplay* CallRecipe::known(const Places& places) const {
  CapturedReplays* replays = steward_.captured_replays();
  // What is copied from the host is read when the copy runs.
  if (!replays || !values_.empty() || !profile_of(op_).only_launches) return nullptr;
  if (!write_key(replays->book().blank_key(), places)) return nullptr;
  CapturedReplay& replay = replays->book().find();
  return replay.refused ? nullptr : &replay;
}

bool CallRecipe::write_key(RepeatKey& key, const Places& places) const {
  const auto number = [&](auto value) { key.push_back(static_cast<std::uint64_t>(value)); };
  number(reinterpret_cast<std::uintptr_t>(&op_.schema()));
  const auto keys = [&](c10::DispatchKeySet set) { number(set.raw_repr()); };
  keys(below_);
  if (!add_settings(key)) return false;
  number(arguments_.size());
  for (const Argument& argument : arguments_) {
    number(argument.kind);
    number(argument.last - argument.first);
    if (argument.kind == Argument::Kind::plain) {
      if (!ebb::torch_adapter::add_argument(key, plain_[argument.first])) return false;
      continue;
    }
    for (std::uint32_t k = argument.first; k < argument.last; ++k) number(tensors_[k]);
  }
  for (std::size_t k = 0; k < forms_.size(); ++k) {
    const TensorForm& form = forms_[k];
    number(reinterpret_cast<std::uintptr_t>(places[k]));
    number(form.storage_bytes);
    keys(form.keys);
    number(form.offset);
    number(static_cast<std::uint64_t>(c10::typeMetaToScalarType(form.type)) << 1 | form.wrapped_number);
    number(form.dims);
    for (std::uint32_t i = 0; i < 2 * form.dims; ++i) number(shapes_[form.at + i]);
  }
  return true;
}

void CallRecipe::run_and_learn(CapturedReplay& replay, ExecContext& context, const Places& places) const {
  MemoryScript script;
  run(context, places, &script);
  bool keeps_memory = false;
  for (std::size_t k = 0; k < script.mallocs().size(); ++k)
    keeps_memory |= !script.mallocs()[k].given_back && context.is_extra(script.block(k));
  if (keeps_memory || !script.mallocs_come_first()) {
    if (replay.was_irregular) replay.refuse();
    replay.was_irregular = true;
    return;
  }
  const bool repeats = replay.was_seen && script == replay.memory;
  replay.was_seen = true;
  replay.memory = std::move(script);
  if (!repeats) return;
  replay.results.clear();
  for (const Handle result : results_)
    replay.results.push_back(result == 0 ? -1 : replay.memory.malloc_of(result));
  steward_.captured_replays()->capture(
      replay, [recipe = *this, places, memory = replay.memory] { recipe.run_on(memory, places); });
}

// Where memory lies elsewhere, or the device does not take what was captured, the op itself runs on the
// memory there is; and where it does not do what it did, on more, and as others do from the next time on.
void CallRecipe::run_again(CapturedReplay& replay, ExecContext& context, const Places& places) const {
  const MemoryAgain memory(replay.memory, context);
  if (memory.lies_the_same() && has_results_of(replay, memory.now())) {
    try {
      if (steward_.captured_replays()->enqueue(replay)) return;
    } catch (const OtherMemory&) {  // on a CPU, where it is the op that runs
      replay.refuse();
      refuse_results();
    } catch (const BackendError&) {
      replay.refuse();
      throw;
    }
    replay.refuse();
  } else {
    steward_.captured_replays()->ran_elsewhere();
  }
  ScriptedMemory scripted(memory.now());
  run(context, places, nullptr, &scripted);
  if (scripted.was_left()) replay.refuse();
}

bool CallRecipe::has_results_of(const CapturedReplay& replay, const MemoryScript& memory) const {
  if (results_.size() != replay.results.size()) return false;
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (results_[i] != 0 && memory.malloc_of(results_[i]) != replay.results[i]) return false;
  return true;
}

void CallRecipe::run_on(const MemoryScript& memory, const Places& places) const {
  ScriptedMemory scripted(memory);
  torch::jit::Stack stack = make_stack(places);
  RunningOp running{.replay = true, .scripted = &scripted};
  const RunningEntry entry(steward_, running);
  const c10::impl::ExcludeDispatchKeyGuard guard(keys_above());
  op_.redispatchBoxed(below_, &stack);
}

void CallRecipe::refuse_results() const {
  throw InputError("replay of op " + op_.operator_name().name + ": its mallocs come in another order");
}

// A library's malloc of the same size as a result's would have taken its place.
void CallRecipe::check_results(ExecContext& context, const torch::jit::Stack& stack) const {
  std::size_t i = 0;
  for (const c10::IValue& result : stack)
    for_each_tensor(result, [&](const at::Tensor& tensor) {
      const Handle birth = i < results_.size() ? results_[i] : 0;
      ++i;
      if (birth != 0 && tensor.storage().unsafeGetStorageImpl()->data() != context.data(birth))
        refuse_results();
    });
}

std::shared_ptr<CallRecipe> RecipePool::take(Steward& steward, const c10::OperatorHandle& op,
                                             c10::DispatchKeySet below) {
  std::unique_ptr<CallRecipe> recipe;
  if (spare_.empty()) {
    recipe = std::make_unique<CallRecipe>(steward, op, below);
  } else {
    recipe = std::move(spare_.back());
    spare_.pop_back();
    recipe->begin(op, below);
  }
  return {recipe.release(), [this](CallRecipe* used) { give_back(std::unique_ptr<CallRecipe>(used)); }};
}

void RecipePool::give_back(std::unique_ptr<CallRecipe> recipe) {
  if (spare_.size() == kMostSpare) return;
  recipe->clear();
  spare_.push_back(std::move(recipe));
}

}  // namespace ebb::torch_adapter
