#include "runtime/workload.h"

#include <algorithm>
#include <cstring>

#include "runtime/mix.h"

namespace ebb::testing {

std::uint64_t hash_of(const std::byte* data, std::size_t bytes) {
  std::uint64_t hash = bytes * 0x9e3779b97f4a7c15u + 1;
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  for (; i < bytes; ++i) hash = (hash ^ static_cast<std::uint64_t>(data[i])) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 29);
}

void scramble(std::byte* data, std::size_t bytes, std::uint64_t seed) {
  std::uint64_t state = seed | 1;
  for (std::size_t i = 0; i < bytes; i += 8) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t word = state ^ (state >> 31);
    std::uint64_t old = 0;
    const std::size_t n = std::min<std::size_t>(8, bytes - i);
    std::memcpy(&old, data + i, n);
    old ^= word;
    std::memcpy(data + i, &old, n);
  }
}

namespace {
struct ScriptedThrow : std::runtime_error {
  ScriptedThrow() : std::runtime_error("the op throws") {}
};
}  // namespace

// One op: what it reads, changes, makes. Shared with the function so that a replay finds it; the plain run
// works on it too.
struct Workload::OpScript {
  struct Input {
    Handle handle = 0;
    std::size_t bytes = 0;
    std::uint64_t expected = 0;
  };
  struct Output {
    Handle handle = 0;  // 0: a birth
    std::size_t bytes = 0;
    bool in_place = false;
  };
  std::uint64_t salt = 0;
  bool replayable = false;
  bool random = false;
  bool nested = false;
  bool flipped = false;  // what is in place has its bytes flipped
  int throws = 0;        // 1: before it writes, 2: after
  std::vector<Input> reads;
  std::vector<Output> outputs;
  std::vector<Handle> side_effects;
  std::vector<std::size_t> workspaces;
  std::vector<Handle> births;  // of the last run, in order of the outputs that are births
  std::optional<std::uint64_t> seed;
  std::shared_ptr<int> wrong;

  std::uint64_t basis() const {
    std::uint64_t basis = salt;
    for (const Input& input : reads) basis = mix(basis, input.expected);
    if (random) basis = mix(basis, seed.value_or(0));
    return basis;
  }

  // REQUIRES: `at` holds zeros unless the output is in place.
  void write(std::byte* at, const Output& output, std::size_t index) const {
    if (!output.in_place) std::memset(at, 0, output.bytes);
    scramble(at, output.bytes, mix(basis(), index));
  }

  // Frees its workspaces when it goes, also by an exception.
  struct Scratch {
    ExecContext& context;
    std::vector<Handle> handles = {};
    ~Scratch() {
      for (const Handle handle : handles) context.free(handle);
    }
  };

  void operator()(ExecContext& context) {
    births.clear();
    {
      Scratch scratch{context};
      for (const std::size_t bytes : workspaces) {
        scratch.handles.push_back(context.malloc(static_cast<Bytes>(bytes)));
        std::memset(context.data(scratch.handles.back()), 0x5a, bytes);
      }
      for (const Output& output : outputs)
        if (output.handle == 0) births.push_back(context.malloc(static_cast<Bytes>(output.bytes)));
    }
    for (const Input& input : reads)
      if (hash_of(context.data(input.handle), input.bytes) != input.expected) ++*wrong;
    if (random && seed && *seed != context.seed()) ++*wrong;
    seed = context.seed();
    if (throws == 1) throw ScriptedThrow();
    std::size_t birth = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Handle handle = outputs[i].handle == 0 ? births[birth++] : outputs[i].handle;
      write(context.data(handle), outputs[i], i);
    }
    for (const Handle handle : side_effects) ++*reinterpret_cast<unsigned char*>(context.data(handle));
    if (throws == 2) throw ScriptedThrow();
  }
};

Workload::Workload(Device& device, std::uint64_t seed, const WorkloadOptions& options)
    : device_(device), options_(options), random_(seed) {}

Workload::~Workload() = default;

Bytes Workload::random_size() {
  const Bytes most = std::min(options_.largest_block, options_.limit / 4);
  const Bytes scale = Bytes{1} << random(14);
  return 1 + static_cast<Bytes>(random(static_cast<std::size_t>(std::max<Bytes>(1, std::min(most, scale)))));
}

Bytes Workload::live_bytes() const {
  Bytes bytes = 0;
  for (const auto& item : items_) bytes += static_cast<Bytes>(item->content.size());
  return bytes;
}

bool Workload::any_pinned() const {
  return std::any_of(items_.begin(), items_.end(), [](const auto& item) { return item->pin.has_value(); });
}

Workload::Item* Workload::random_item(bool defined) {
  if (items_.empty()) return nullptr;
  Item* item = items_[random(items_.size())].get();
  return item->defined == defined && !item->pinned_for_writing ? item : nullptr;
}

void Workload::failed(const std::exception& error, bool expected) {
  ++failures_;
  if (expected) return;
  ++unexpected_;
  last_failure_ = error.what();
}

void Workload::do_malloc() {
  const Bytes bytes = random_size();
  try {
    const Handle handle = device_.malloc(bytes);
    items_.push_back(
        std::make_unique<Item>(Item{.handle = handle, .content = Content(static_cast<std::size_t>(bytes))}));
  } catch (const std::exception& error) {
    failed(error, options_.faults || any_pinned());
  }
}

void Workload::do_free() {
  if (items_.empty()) return;
  const std::size_t index = random(items_.size());
  if (items_[index]->pin && chance(0.5)) items_[index]->pin->release();
  device_.free(items_[index]->handle);
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Workload::do_pin() {
  if (items_.empty()) return;
  Item& item = *items_[random(items_.size())];
  if (item.pin) return;
  const bool write = !item.defined || chance(0.5);
  try {
    Pin pin = device_.pin(item.handle, write ? PinFor::writing : PinFor::reading);
    if (item.defined && std::memcmp(pin.data(), item.content.data(), item.content.size()) != 0) ++*wrong_;
    if (write) {
      scramble(item.content.data(), item.content.size(), random_());
      std::memcpy(pin.data(), item.content.data(), item.content.size());
      item.defined = true;
    }
    if (static_cast<double>(item.content.size()) > 0.05 * static_cast<double>(options_.limit) || chance(0.7))
      return;
    item.pin = std::move(pin);
    item.pinned_for_writing = write;
  } catch (const std::exception& error) {
    failed(error, options_.faults || any_pinned());
  }
}

void Workload::do_unpin() {
  for (auto& item : items_) {
    if (!item->pin) continue;
    if (std::memcmp(item->pin->data(), item->content.data(), item->content.size()) != 0) ++*wrong_;
    if (item->pinned_for_writing && chance(0.5)) {
      scramble(item->content.data(), item->content.size(), random_());
      std::memcpy(item->pin->data(), item->content.data(), item->content.size());
    }
    item->pinned_for_writing = false;
    item->pin.reset();
  }
}

void Workload::do_op() {
  auto script = std::make_shared<OpScript>();
  script->salt = random_();
  script->wrong = wrong_;
  script->replayable = chance(0.8);
  script->random = chance(0.2);
  script->nested = options_.nested_ops && chance(0.1);
  if (options_.throwing_ops && chance(0.04)) script->throws = chance(0.5) ? 1 : 2;
  const bool in_place_allowed = chance(0.5);
  const double part = in_place_allowed ? options_.largest_in_place_op : options_.largest_op;
  Bytes room = static_cast<Bytes>(part * static_cast<double>(options_.limit)) * (any_pinned() ? 1 : 2) / 2;
  std::vector<const Item*> used;
  const auto claim = [&](std::size_t bytes, const Item* item) {
    const Bytes rounded = (static_cast<Bytes>(bytes) + 511) / 512 * 512;
    if (rounded > room || std::find(used.begin(), used.end(), item) != used.end()) return false;
    room -= rounded;
    if (item) used.push_back(item);
    return true;
  };
  for (std::size_t i = random(4); i > 0; --i)
    if (Item* item = random_item(true); item && claim(item->content.size(), item))
      script->reads.push_back(
          {item->handle, item->content.size(), hash_of(item->content.data(), item->content.size())});
  if (Item* item = random_item(false); item && !item->pin && claim(item->content.size(), item))
    script->outputs.push_back({item->handle, item->content.size(), false});
  if (in_place_allowed)
    for (std::size_t i = random(3); i > 0; --i)
      if (Item* item = random_item(true); item && !item->pin && claim(item->content.size(), item)) {
        script->outputs.push_back({item->handle, item->content.size(), true});
        if (chance(0.5))
          script->reads.push_back(
              {item->handle, item->content.size(), hash_of(item->content.data(), item->content.size())});
      }
  if (in_place_allowed && chance(0.2))
    if (Item* item = random_item(true); item && !item->pin && claim(item->content.size(), item))
      script->side_effects.push_back(item->handle);
  if (static_cast<double>(live_bytes()) < options_.most_live * static_cast<double>(options_.limit))
    for (std::size_t i = random(3); i > 0; --i)
      if (const Bytes bytes = random_size(); claim(static_cast<std::size_t>(bytes), nullptr))
        script->outputs.push_back({0, static_cast<std::size_t>(bytes), false});
  for (std::size_t i = random(3); i > 0; --i)
    if (const Bytes bytes = random_size(); claim(static_cast<std::size_t>(bytes), nullptr))
      script->workspaces.push_back(static_cast<std::size_t>(bytes));
  run(script);
}

void Workload::run(const std::shared_ptr<OpScript>& script) {
  std::vector<Handle> reads;
  std::vector<Handle> writes;
  for (const auto& input : script->reads) reads.push_back(input.handle);
  for (const auto& output : script->outputs)
    if (output.handle != 0) writes.push_back(output.handle);
  const OpInfo info{.name = "op",
                    .replayable = script->replayable,
                    .random = script->random,
                    .side_effects = script->side_effects};
  bool wrote = true;
  try {
    if (script->nested) {
      // The outer op knows only a part; the inner one brings the rest. A function that owns what it captures.
      const auto effects = script->side_effects;
      Device& device = device_;
      const bool replayable = script->replayable;
      // Sometimes the outer op also changes in place, and the inner one takes that back first.
      std::vector<Handle> flipped;
      std::vector<std::size_t> sizes;
      for (const auto& output : script->outputs)
        if (output.in_place && script->salt % 2)
          flipped.push_back(output.handle), sizes.push_back(output.bytes);
      const auto flip = [flipped, sizes](ExecContext& context) {
        for (std::size_t i = 0; i < flipped.size(); ++i)
          for (std::size_t k = 0; k < sizes[i]; ++k) context.data(flipped[i])[k] ^= std::byte{0x55};
      };
      device_.exec({.name = "outer", .replayable = replayable}, {}, flipped,
                   [=, &device](ExecContext& outer) {
                     flip(outer);
                     // Until the inner one has flipped them back, an exception leaves them changed.
                     script->flipped = true;
                     device.exec({.name = "inner", .replayable = replayable, .side_effects = effects}, reads,
                                 writes, [=](ExecContext& inner) {
                                   flip(inner);
                                   script->flipped = false;
                                   (*script)(inner);
                                 });
                   });
    } else {
      device_.exec(info, reads, writes, [script](ExecContext& context) { (*script)(context); });
    }
  } catch (const ScriptedThrow&) {
    wrote = script->throws == 2;
  } catch (const std::exception& error) {
    failed(error, options_.faults || any_pinned());
    wrote = false;
    for (const auto& output : script->outputs)
      if (script->flipped && output.in_place) settle_flipped(output.handle);
  }
  std::size_t birth = 0;
  for (std::size_t i = 0; i < script->outputs.size(); ++i) {
    const auto& output = script->outputs[i];
    Handle handle = output.handle;
    if (handle == 0) {
      if (birth >= script->births.size()) continue;
      handle = script->births[birth++];
      if (!wrote) {
        device_.free(handle);
        continue;
      }
      items_.push_back(std::make_unique<Item>(Item{.handle = handle, .content = Content(output.bytes)}));
    }
    if (!wrote) continue;
    const auto it =
        std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item->handle == handle; });
    script->write((*it)->content.data(), output, i);
    (*it)->defined = true;
  }
  if (!wrote) return;
  for (const Handle handle : script->side_effects) {
    const auto it =
        std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item->handle == handle; });
    ++reinterpret_cast<unsigned char&>((*it)->content[0]);
  }
}

void Workload::settle_flipped(Handle handle) {
  const auto it =
      std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item->handle == handle; });
  Content flipped = (*it)->content;
  for (std::byte& byte : flipped) byte ^= std::byte{0x55};
  for (int tries = 0; tries < 20; ++tries) {
    try {
      const Pin pin = device_.pin(handle, PinFor::reading);
      if (std::memcmp(pin.data(), flipped.data(), flipped.size()) == 0) (*it)->content = flipped;
      if (std::memcmp(pin.data(), (*it)->content.data(), flipped.size()) != 0) ++*wrong_;
      return;
    } catch (const std::exception&) {
    }
  }
  device_.free(handle);  // it cannot be asked
  items_.erase(it);
}

void Workload::step() {
  const double crowd =
      static_cast<double>(live_bytes()) / (options_.most_live * static_cast<double>(options_.limit));
  const double dice = static_cast<double>(random(100));
  if (dice < 8 && crowd < 1)
    do_malloc();
  else if (dice < 8 + 15 * crowd)
    do_free();
  else if (options_.pins && dice < 30)
    chance(0.5) ? do_pin() : do_unpin();
  else
    do_op();
}

void Workload::finish() {
  do_unpin();
  for (const auto& item : items_) {
    if (item->defined) {
      try {
        const Pin pin = device_.pin(item->handle, PinFor::reading);
        if (std::memcmp(pin.data(), item->content.data(), item->content.size()) != 0) ++*wrong_;
      } catch (const std::exception& error) {
        failed(error, options_.faults);
      }
    }
    device_.free(item->handle);
  }
  items_.clear();
}

}  // namespace ebb::testing
