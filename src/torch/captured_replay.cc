#include "torch/captured_replay.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>

#include <bit>
#include <type_traits>

#include "runtime/mix.h"

namespace ebb::torch_adapter {
namespace {

// How products of 32-bit floats may be computed on a GPU, for every kind of op there is a setting for.
// Versions of torch name backends and ops by enums or by text.
template <typename Context, typename Result, typename Backend, typename Op>
void add_precisions(RepeatKey& key, const Context& context, Result (Context::*of)(Backend, Op) const) {
  std::uint64_t all = 0;
  if constexpr (std::is_enum_v<Backend>) {
    for (const Op op : {Op::CONV, Op::RNN, Op::MATMUL})
      all = mix(all, static_cast<std::uint64_t>((context.*of)(Backend::CUDA, op)));
  } else {
    for (const char* op : {"conv", "rnn", "matmul"})
      for (const char letter : (context.*of)("cuda", op)) all = mix(all, static_cast<std::uint64_t>(letter));
  }
  key.push_back(all);
}

template <typename Context>
void add_precisions(RepeatKey& key, const Context& context) {
  if constexpr (requires { &Context::float32Precision; })
    add_precisions(key, context, &Context::float32Precision);
  else
    key.push_back(context.allowTF32CuDNN() | (context.allowTF32CuBLAS() << 1));
}

enum class Kind : std::uint64_t { none, integer, real, truth, integers, reals, truths, text, device };

void add_kind(RepeatKey& key, Kind kind, std::size_t count = 0) {
  key.push_back(static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(count) << 8);
}

template <typename List>
void add_list(RepeatKey& key, Kind kind, const List& list) {
  add_kind(key, kind, list.size());
  for (const auto element : list) {
    if constexpr (std::is_same_v<List, c10::List<double>>)
      key.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(element)));
    else
      key.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(element)));
  }
}

}  // namespace

bool add_settings(RepeatKey& key) {
  const at::Context& context = at::globalContext();
  key.push_back(static_cast<std::uint64_t>(at::get_num_threads()) << 8 |
                static_cast<std::uint64_t>(context.userEnabledCuDNN()) |
                static_cast<std::uint64_t>(context.deterministicCuDNN()) << 1 |
                static_cast<std::uint64_t>(context.benchmarkCuDNN()) << 2 |
                static_cast<std::uint64_t>(context.deterministicAlgorithms()) << 3);
  try {
    add_precisions(key, context);
  } catch (const c10::Error&) {
    return false;
  }
  return true;
}

bool add_argument(RepeatKey& key, const c10::IValue& value) {
  if (value.isNone()) {
    add_kind(key, Kind::none);
  } else if (value.isInt()) {
    add_kind(key, Kind::integer);
    key.push_back(static_cast<std::uint64_t>(value.toInt()));
  } else if (value.isDouble()) {
    add_kind(key, Kind::real);
    key.push_back(std::bit_cast<std::uint64_t>(value.toDouble()));
  } else if (value.isBool()) {
    add_kind(key, Kind::truth, value.toBool());
  } else if (value.isIntList()) {
    add_list(key, Kind::integers, value.toIntList());
  } else if (value.isDoubleList()) {
    add_list(key, Kind::reals, value.toDoubleList());
  } else if (value.isBoolList()) {
    add_list(key, Kind::truths, value.toBoolList());
  } else if (value.isString()) {
    const std::string& text = value.toStringRef();
    add_kind(key, Kind::text, text.size());
    for (const char letter : text) key.push_back(static_cast<std::uint64_t>(letter));
  } else if (value.isDevice()) {
    const c10::Device device = value.toDevice();
    add_kind(key, Kind::device, static_cast<std::size_t>(device.type()));
    key.push_back(static_cast<std::uint64_t>(device.index()));
  } else {
    return false;
  }
  return true;
}

}  // namespace ebb::torch_adapter
