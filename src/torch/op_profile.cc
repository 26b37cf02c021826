#include "torch/op_profile.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "torch/pointer_map.h"

namespace ebb::torch_adapter {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// They change a tensor's shape or storage, no bytes, in spite of their annotation.
constexpr std::string_view kMetadataOps[] = {"set_",
                                             "as_strided_",
                                             "t_",
                                             "transpose_",
                                             "squeeze_",
                                             "unsqueeze_",
                                             "swapdims_",
                                             "swapaxes_",
                                             "moveaxis_",
                                             "detach_",
                                             "rename_",
                                             "set_data",
                                             "requires_grad_",
                                             "retain_grad",
                                             "_backward",
                                             "size",
                                             "stride",
                                             "is_same_size",
                                             "numel",
                                             "is_set_to",
                                             "record_stream",
                                             "sym_size",
                                             "sym_stride",
                                             "sym_numel",
                                             "sym_storage_offset",
                                             "dim",
                                             "is_pinned",
                                             "_version",
                                             "_has_same_storage_numel",
                                             "is_coalesced",
                                             "dense_dim",
                                             "sparse_dim",
                                             "_dimI",
                                             "_dimV",
                                             "_nnz"};

// Their whole result depends on the arguments other than the one they write.
constexpr std::string_view kOverwritingOps[] = {"zero_",      "fill_",   "copy_",      "normal_",
                                                "uniform_",   "random_", "bernoulli_", "exponential_",
                                                "geometric_", "cauchy_", "log_normal_"};

constexpr std::string_view kNotReplayable[] = {"resize_",
                                               "resize_as_",
                                               "_resize_output_",
                                               "resize",
                                               "_cudnn_init_dropout_state",
                                               "_cudnn_rnn_flatten_weight",
                                               "_pin_memory",
                                               "_nested_tensor_from_tensor_list"};

constexpr std::string_view kOnlyLaunch[] = {"convolution",
                                            "native_batch_norm",
                                            "cudnn_batch_norm",
                                            "_batch_norm_with_update",
                                            "native_layer_norm",
                                            "native_group_norm",
                                            "relu",
                                            "relu_",
                                            "threshold",
                                            "hardtanh",
                                            "hardtanh_",
                                            "hardswish",
                                            "hardswish_",
                                            "leaky_relu",
                                            "leaky_relu_",
                                            "elu",
                                            "sigmoid",
                                            "tanh",
                                            "silu",
                                            "silu_",
                                            "gelu",
                                            "_softmax",
                                            "_log_softmax",
                                            "add",
                                            "add_",
                                            "sub",
                                            "mul",
                                            "mul_",
                                            "div",
                                            "max_pool2d_with_indices",
                                            "avg_pool2d",
                                            "_adaptive_avg_pool2d",
                                            "mean",
                                            "cat",
                                            "clone",
                                            "embedding"};

// With running statistics and without, the results of training are the same bits, if there is a weight.
constexpr std::string_view kOptionalStatistics[] = {"native_batch_norm", "cudnn_batch_norm"};

// Per tensor, whatever else is in the list; the others of the family stay whole.
constexpr std::string_view kListFamilies[] = {"_foreach_", "_fused_adam", "_fused_sgd", "_fused_adagrad",
                                              "_amp_foreach_non_finite_check_and_unscale_"};

bool is_tensor(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  if (type.kind() == c10::TypeKind::ListType || type.kind() == c10::TypeKind::OptionalType)
    return is_tensor(*type.containedTypes().at(0));
  return false;
}

Holds what_it_holds(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::ListType:
    case c10::TypeKind::OptionalType:
      return what_it_holds(*type.containedTypes().at(0));
    case c10::TypeKind::DeviceObjType:
      return Holds::device;
    case c10::TypeKind::BoolType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::StringType:
    case c10::TypeKind::GeneratorType:
      return Holds::plain;
    default:
      return Holds::tensors;
  }
}

bool returns_views_only(const c10::FunctionSchema& schema) {
  if (schema.returns().empty()) return false;
  for (const c10::Argument& argument : schema.arguments())
    if (argument.alias_info() && argument.alias_info()->isWrite()) return false;
  return std::all_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument& result) {
    return is_tensor(*result.type()) && result.alias_info();
  });
}

bool is_composite(const c10::OperatorHandle& op) {
  using Key = c10::DispatchKey;
  if (!op.hasKernelForDispatchKey(Key::CompositeImplicitAutograd)) return false;
  return !op.hasKernelForDispatchKey(Key::CPU) && !op.hasKernelForDispatchKey(Key::CUDA) &&
         !op.hasKernelForDispatchKey(Key::CompositeExplicitAutograd);
}

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Treatment treatment_of(const c10::OperatorHandle& op, std::string_view space, std::string_view name) {
  if (space == "c10d") return Treatment::collective;
  if (space != "aten") return Treatment::opaque;
  const bool passes = is_one_of(name, kMetadataOps) || is_composite(op) || returns_views_only(op.schema());
  return passes ? Treatment::pass : Treatment::op;
}

// Schemas of torch.distributed say nothing: the first argument is what is received, others are sent.
void set_collective_uses(OpProfile& profile, const c10::FunctionSchema& schema, std::string_view name) {
  for (std::size_t i = 0; i < schema.arguments().size(); ++i)
    profile.arguments.push_back(
        {.holds = what_it_holds(*schema.arguments()[i].type()), .writes = i == 0 && name != "send"});
}

void set_argument_uses(OpProfile& profile, const c10::FunctionSchema& schema, std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  // Those without training compute from the statistics, and functional ones return them.
  const bool batch_norm =
      has("batch_norm") && !has("backward") && !has("no_training") && !has("no_update") && !has("functional");
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    ArgumentUse use{.holds = what_it_holds(*argument.type())};
    use.writes = argument.alias_info() && argument.alias_info()->isWrite();
    if (use.writes && is_one_of(name, kOverwritingOps) && i == 0) use.reads = false;
    // Running statistics change without an annotation, or (from 2.0 on) with one.
    if (batch_norm && (argument.name() == "running_mean" || argument.name() == "running_var")) {
      use.side_effect = true;
      use.writes = false;
    }
    if (batch_norm && (argument.name() == "training" || argument.name() == "train"))
      profile.training_argument = static_cast<int>(i);
    if (name.starts_with("rrelu_with_noise") && argument.name() == "noise" && !has("backward"))
      use.writes = true;
    profile.arguments.push_back(use);
  }
}

}  // namespace

std::unique_ptr<const OpProfile> make_profile(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  const std::string full = schema.name();
  const std::size_t colons = full.find("::");
  const std::string_view space = std::string_view(full).substr(0, colons);
  const std::string_view name = std::string_view(full).substr(colons + 2);
  auto profile = std::make_unique<OpProfile>();
  profile->name = schema.overload_name().empty() ? full : full + "." + schema.overload_name();
  profile->treatment = treatment_of(op, space, name);
  if (profile->treatment == Treatment::collective)
    set_collective_uses(*profile, schema, name);
  else
    set_argument_uses(*profile, schema, name);
  profile->results = schema.returns().size();
  profile->random = op.hasTag(at::Tag::nondeterministic_seeded);
  profile->elementwise_lists = starts_with_any(name, kListFamilies);
  profile->uninitialised = name.starts_with("empty") || name.starts_with("new_empty") ||
                           name.starts_with("_empty") || name.starts_with("resize");
  profile->replayable = profile->treatment == Treatment::op && !is_one_of(name, kNotReplayable) &&
                        std::all_of(schema.returns().begin(), schema.returns().end(),
                                    [](const c10::Argument& result) { return is_tensor(*result.type()); });
  profile->side_effects_are_optional = is_one_of(name, kOptionalStatistics);
  profile->only_launches = profile->replayable && !profile->random && is_one_of(name, kOnlyLaunch);
  return profile;
}

const OpProfile& profile_of(const c10::OperatorHandle& op) {
  thread_local PointerMap<const OpProfile> by_schema;
  thread_local std::vector<std::unique_ptr<const OpProfile>> profiles;
  if (const OpProfile* known = by_schema.find(&op.schema())) return *known;
  const OpProfile& profile = *profiles.emplace_back(make_profile(op));
  by_schema.set(&op.schema(), &profile);
  return profile;
}

}  // namespace ebb::torch_adapter
