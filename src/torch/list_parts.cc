#include "torch/list_parts.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace ebb::torch_adapter {
namespace {

bool is_tensor_list(const c10::IValue& value) { return value.isTensorList(); }

// The lists that have an element per tensor, all of one length; 0: there are none, or they do not match.
std::size_t common_length(c10::ArrayRef<c10::IValue> arguments) {
  std::size_t length = 0;
  for (const c10::IValue& argument : arguments) {
    if (!is_tensor_list(argument)) continue;
    const std::size_t own = argument.toListRef().size();
    if (own == 0) continue;  // a state this optimizer does without
    if (length != 0 && own != length) return 0;
    length = own;
  }
  return length;
}

// What torch's fast path wants of all tensors at once. The lists of counters are scalars of another type.
bool takes_fast_path(c10::ArrayRef<c10::IValue> arguments) {
  const at::Tensor* first = nullptr;
  for (const c10::IValue& argument : arguments) {
    if (!is_tensor_list(argument)) continue;
    const c10::ArrayRef<c10::IValue> list = argument.toListRef();
    for (const c10::IValue& element : list) {
      const at::Tensor& tensor = element.toTensor();
      if (!tensor.defined() || tensor.layout() != c10::kStrided) return false;
      if (tensor.dim() == 0 && tensor.numel() == 1) continue;
      if (!first) first = &tensor;
      if (tensor.device() != first->device() || tensor.scalar_type() != first->scalar_type() ||
          !tensor.is_non_overlapping_and_dense())
        return false;
    }
  }
  return first && c10::isFloatingType(first->scalar_type());
}

template <typename T>
c10::IValue slice(const c10::List<T>& list, std::size_t from, std::size_t to) {
  c10::List<T> part;
  for (std::size_t i = from; i < to; ++i) part.push_back(list.get(i));
  return c10::IValue(std::move(part));
}

c10::IValue slice(const c10::IValue& value, std::size_t from, std::size_t to) {
  if (value.isTensorList()) return slice(value.toTensorList(), from, to);
  c10::List<c10::IValue> list = value.toList();
  c10::impl::GenericList part(list.elementType());
  for (std::size_t i = from; i < to; ++i) part.push_back(list.get(i));
  return c10::IValue(std::move(part));
}

}  // namespace

std::vector<std::size_t> cuts_of(c10::ArrayRef<c10::IValue> arguments) {
  const std::size_t length = common_length(arguments);
  if (length < 2 || !takes_fast_path(arguments)) return {length};
  std::vector<std::size_t> cuts;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < length; ++i) {
    std::size_t own = 0;
    for (const c10::IValue& argument : arguments)
      if (is_tensor_list(argument) && !argument.toListRef().empty())
        own += argument.toListRef()[i].toTensor().nbytes();
    if (bytes > 0 && bytes + own > kPartBytes) {
      cuts.push_back(i);
      bytes = 0;
    }
    bytes += own;
  }
  cuts.push_back(length);
  return cuts;
}

ListParts::ListParts(torch::jit::Stack& stack, const OpProfile& profile, const std::vector<std::size_t>& cuts)
    : stack_(stack), cuts_(cuts) {
  const auto from = stack.end() - static_cast<std::ptrdiff_t>(profile.arguments.size());
  arguments_.assign(std::make_move_iterator(from), std::make_move_iterator(stack.end()));
  stack.erase(from, stack.end());
}

torch::jit::Stack ListParts::arguments(std::size_t part) const {
  const std::size_t from = part == 0 ? 0 : cuts_[part - 1];
  const std::size_t length = cuts_.back();
  torch::jit::Stack own;
  for (const c10::IValue& argument : arguments_) {
    const bool per_tensor = argument.isList() && argument.toListRef().size() == length;
    own.push_back(per_tensor ? slice(argument, from, cuts_[part]) : argument);
  }
  return own;
}

void ListParts::add_results(const torch::jit::Stack& results) {
  if (results_.empty()) {
    results_ = results;
    return;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].isTensorList()) continue;
    c10::List<at::Tensor> all = results_[i].toTensorList();
    for (const c10::IValue& element : results[i].toListRef()) all.push_back(element.toTensor());
  }
}

void ListParts::finish() { stack_.insert(stack_.end(), results_.begin(), results_.end()); }

}  // namespace ebb::torch_adapter
