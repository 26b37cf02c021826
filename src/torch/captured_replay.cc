#include "torch/captured_replay.h"

#include <ATen/Context.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "runtime/mix.h"

namespace ebb::torch_adapter {
namespace {

thread_local const ScriptedMemory* followed = nullptr;

// How products of 32-bit floats may be computed on a GPU, for every kind of op there is a setting for.
// Versions of torch name backends and ops by enums or by text.
template <typename Context, typename Result, typename Backend, typename Op>
void add_precisions(ReplayKey& key, const Context& context, Result (Context::*of)(Backend, Op) const) {
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
void add_precisions(ReplayKey& key, const Context& context) {
  if constexpr (requires { &Context::float32Precision; })
    add_precisions(key, context, &Context::float32Precision);
  else
    key.push_back(context.allowTF32CuDNN() | (context.allowTF32CuBLAS() << 1));
}

enum class Kind : std::uint64_t { none, integer, real, truth, integers, reals, truths, text, device };

void add_kind(ReplayKey& key, Kind kind, std::size_t count = 0) {
  key.push_back(static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(count) << 8);
}

template <typename List>
void add_list(ReplayKey& key, Kind kind, const List& list) {
  add_kind(key, kind, list.size());
  for (const auto element : list) {
    if constexpr (std::is_same_v<List, c10::List<double>>)
      key.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(element)));
    else
      key.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(element)));
  }
}

}  // namespace

bool only_launches(const c10::OperatorName& op) {
  static const std::unordered_set<std::string_view> known{
      "aten::convolution",
      "aten::native_batch_norm",
      "aten::cudnn_batch_norm",
      "aten::_batch_norm_with_update",
      "aten::native_layer_norm",
      "aten::native_group_norm",
      "aten::relu",
      "aten::relu_",
      "aten::threshold",
      "aten::hardtanh",
      "aten::hardtanh_",
      "aten::hardswish",
      "aten::hardswish_",
      "aten::leaky_relu",
      "aten::leaky_relu_",
      "aten::elu",
      "aten::sigmoid",
      "aten::tanh",
      "aten::silu",
      "aten::silu_",
      "aten::gelu",
      "aten::_softmax",
      "aten::_log_softmax",
      "aten::add",
      "aten::add_",
      "aten::sub",
      "aten::mul",
      "aten::mul_",
      "aten::div",
      "aten::max_pool2d_with_indices",
      "aten::avg_pool2d",
      "aten::_adaptive_avg_pool2d",
      "aten::mean",
      "aten::cat",
      "aten::clone",
      "aten::embedding",
  };
  return known.contains(op.name);
}

bool add_settings(ReplayKey& key) {
  const at::Context& context = at::globalContext();
  key.push_back(static_cast<std::uint64_t>(context.userEnabledCuDNN()) |
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

bool add_argument(ReplayKey& key, const c10::IValue& value) {
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

void MemoryScript::malloced(Handle block, std::size_t bytes, std::byte* address) {
  calls_.push_back({.bytes = bytes, .address = address});
  blocks_.push_back(block);
}

void MemoryScript::freed(Handle block) {
  const int call = call_of(block);
  if (call < 0) return;
  calls_.push_back({.frees = call});
  blocks_.push_back(0);
}

int MemoryScript::call_of(Handle block) const {
  for (std::size_t k = blocks_.size(); k-- > 0;)
    if (blocks_[k] == block) return static_cast<int>(k);
  return -1;
}

ScriptedMemory::ScriptedMemory(const MemoryScript& script) : script_(script), outer_(followed) {
  followed = this;
}

ScriptedMemory::~ScriptedMemory() { followed = outer_; }

std::byte* ScriptedMemory::next(std::size_t bytes) {
  const std::vector<MemoryScript::Call>& calls = script_.calls();
  while (next_ < calls.size() && calls[next_].frees >= 0) ++next_;
  if (next_ == calls.size() || calls[next_].bytes != bytes) throw OtherMemory{};
  return calls[next_++].address;
}

bool ScriptedMemory::has(const void* address) {
  if (!followed) return false;
  for (const MemoryScript::Call& call : followed->script_.calls())
    if (call.address == address) return true;
  return false;
}

MemoryAgain::MemoryAgain(const MemoryScript& script, ExecContext& context)
    : script_(script),
      context_(context),
      blocks_(script.calls().size(), 0),
      addresses_(script.calls().size(), nullptr) {
  try {
    ask();
  } catch (...) {
    // The frame takes back what it knows to be the op's.
    for (const Handle block : blocks_)
      if (block != 0 && context_.is_extra(block)) context_.free(block);
    throw;
  }
}

void MemoryAgain::ask() {
  const std::vector<MemoryScript::Call>& calls = script_.calls();
  std::size_t end = calls.size();
  while (end > 0 && calls[end - 1].frees >= 0) --end;
  for (; done_ < end; ++done_) {
    const MemoryScript::Call& call = calls[done_];
    if (call.frees >= 0) {
      give_back(done_);
      continue;
    }
    blocks_[done_] = context_.malloc(static_cast<Bytes>(call.bytes));
    addresses_[done_] = context_.data(blocks_[done_]);
    same_ = same_ && addresses_[done_] == call.address;
  }
}

void MemoryAgain::give_back(std::size_t call) {
  Handle& block = blocks_[static_cast<std::size_t>(script_.calls()[call].frees)];
  context_.free(std::exchange(block, 0));
}

MemoryAgain::~MemoryAgain() {
  for (; done_ < script_.calls().size(); ++done_) give_back(done_);
  for (const Handle block : blocks_)
    if (block != 0 && context_.is_extra(block)) context_.free(block);
}

MemoryScript MemoryAgain::script_now() const {
  MemoryScript moved = script_;
  for (std::size_t k = 0; k < addresses_.size(); ++k) moved.move(k, addresses_[k]);
  return moved;
}

std::size_t CapturedReplays::Hash::operator()(const ReplayKey& key) const {
  std::uint64_t hash = key.size();
  for (const std::uint64_t word : key) hash = mix(hash, word);
  return hash;
}

CapturedReplay& CapturedReplays::find() {
  auto it = replays_.find(key_);
  if (it == replays_.end()) {
    if (replays_.size() >= most_) forget_old();
    it = replays_.emplace(key_, CapturedReplay{}).first;
  }
  it->second.seen_in = generation_;
  return it->second;
}

void CapturedReplays::forget_old() {
  std::erase_if(replays_, [&](const auto& known) { return known.second.seen_in < generation_; });
  ++generation_;
  most_ = std::max(kFew, 2 * replays_.size());
}

void CapturedReplays::capture(CapturedReplay& replay, std::function<void()> work) {
  replay.work = platform_.capture(std::move(work));
  replay.refused = !replay.work;
  if (replay.work) ++captured_;
}

}  // namespace ebb::torch_adapter
