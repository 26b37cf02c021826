#include "runtime/program_runner.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/mix.h"

namespace ebb::testing {

namespace {
constexpr int kMostRefills = 50;
}

// One call of an op, owned by its function so that a replay finds it.
struct ProgramRunner::Call {
  struct Input {
    Handle handle = 0;
    std::uint64_t expected = 0;
    std::size_t bytes = 0;
  };
  struct Output {
    Handle handle = 0;  // 0: born in the op
    std::size_t bytes = 0;
    bool from_old = false;
  };
  std::uint64_t salt = 0;
  std::vector<Input> inputs = {};
  std::vector<Output> outputs = {};
  std::vector<Handle> side_effects = {};
  Bytes workspace = 0;
  std::vector<Handle> births = {};
  std::shared_ptr<int> wrong = {};
  ByteAccess access = {};
  std::function<void()> work = {};

  std::uint64_t basis() const {
    std::uint64_t basis = salt;
    for (const Input& input : inputs) basis = mix(basis, input.expected);
    return basis;
  }
  void write(std::byte* at, std::size_t k) const {
    if (!outputs[k].from_old) std::fill_n(at, outputs[k].bytes, std::byte{0});
    scramble(at, outputs[k].bytes, mix(basis(), k));
  }
  void operator()(ExecContext& context) {
    births.clear();
    for (const Output& output : outputs)
      if (output.handle == 0) births.push_back(context.malloc(static_cast<Bytes>(output.bytes)));
    if (workspace > 0) {
      const Handle scratch = context.malloc(workspace);
      const Content noise(static_cast<std::size_t>(workspace), std::byte{0x77});
      access.store(context.data(scratch), noise.data(), noise.size());
      context.free(scratch);
    }
    for (const Input& input : inputs) {
      const Content content = load(context, input.handle, input.bytes);
      if (hash_of(content.data(), content.size()) != input.expected) ++*wrong;
    }
    std::size_t birth = 0;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Handle handle = outputs[k].handle == 0 ? births[birth++] : outputs[k].handle;
      Content content = load(context, handle, outputs[k].bytes);
      write(content.data(), k);
      access.store(context.data(handle), content.data(), content.size());
    }
    for (const Handle handle : side_effects) {
      Content first = load(context, handle, 1);
      ++reinterpret_cast<unsigned char&>(first[0]);
      access.store(context.data(handle), first.data(), 1);
    }
    if (work) work();
  }
  Content load(ExecContext& context, Handle handle, std::size_t bytes) const {
    Content content(bytes);
    access.load(content.data(), context.data(handle), bytes);
    return content;
  }
};

ProgramRunner::ProgramRunner(Device& device, const Program& program, const RunnerOptions& options)
    : device_(device), program_(program), options_(options), live_(program.blocks().size()) {
  const auto copy = [](std::byte* to, const std::byte* from, std::size_t n) { std::copy_n(from, n, to); };
  if (!options_.bytes.load) options_.bytes = {copy, copy};
}

void ProgramRunner::start() {
  if (std::exchange(started_, true)) return;
  for (BlockId b = 0; b < program_.block_count(); ++b)
    if (program_.block(b).lifetime != Lifetime::local) instances(b).push_back(make(b, bytes_of(b, false)));
}

ProgramRunner::~ProgramRunner() = default;

Bytes ProgramRunner::bytes_of(BlockId block, bool half) const {
  const Bytes bytes = program_.block(block).bytes * options_.unit;
  return half ? (bytes + 1) / 2 : bytes;
}

ProgramRunner::Live ProgramRunner::make(BlockId block, Bytes bytes) {
  Live live{.handle = malloc_at_last(bytes), .content = Content(static_cast<std::size_t>(bytes))};
  scramble(live.content.data(), live.content.size(), static_cast<std::uint64_t>(block) + 99);
  refill(live);
  return live;
}

Handle ProgramRunner::malloc_at_last(Bytes bytes) {
  for (int tries = 1;; ++tries) try {
      return device_.malloc(bytes);
    } catch (const BackendError& error) {
      failed(error);
      if (tries == kMostRefills) throw;
    }
}

void ProgramRunner::refill(Live& live) {
  for (int tries = 1;; ++tries) try {
      const Pin pin = device_.pin(live.handle, PinFor::writing);
      options_.bytes.store(pin.data(), live.content.data(), live.content.size());
      return;
    } catch (const std::exception& error) {
      failed(error);
      if (tries == kMostRefills) throw;  // the device does not have what the program says it has
    }
}

void ProgramRunner::failed(const std::exception& error) {
  ++failures_;
  last_failure_ = error.what();
}

void ProgramRunner::iterate(const Variation& variation) {
  start();
  for (OpIndex i = 0; i < program_.op_count(); ++i) {
    const bool can_be_left_out = program_.op(i).births.empty();
    if (i != variation.leave_out || !can_be_left_out) run(i, variation.half_sizes);
    free_dead(i);
    if (i == variation.one_more_after) one_more();
    if (i == variation.stop_after) break;
  }
  if (variation.stop_after == kNoOp) return;
  // What the rest would have freed.
  for (BlockId b = 0; b < program_.block_count(); ++b) {
    const Lifetime lifetime = program_.block(b).lifetime;
    const std::size_t stay = lifetime == Lifetime::local ? 0 : 1;
    while (instances(b).size() > stay) {
      device_.free(instances(b).front().handle);
      instances(b).erase(instances(b).begin());
    }
    if (instances(b).size() < stay) instances(b).push_back(make(b, bytes_of(b, false)));
  }
}

void ProgramRunner::run(OpIndex i, bool half) {
  const Op& op = program_.op(i);
  auto call = std::make_shared<Call>();
  call->salt = mix(static_cast<std::uint64_t>(i), ++calls_);
  call->wrong = wrong_;
  call->workspace = op.workspace * options_.unit;
  call->access = options_.bytes;
  if (options_.work) call->work = [work = options_.work, i] { work(i); };
  std::vector<BlockId> written;  // by output
  for (std::size_t k = 0; k < op.births.size(); ++k) {
    const Bytes bytes = bytes_of(op.births[k], half);
    Handle handle = 0;
    if (options_.births_outside && k % 3 == 0) {
      try {
        handle = device_.malloc(bytes);
      } catch (const std::exception& error) {
        failed(error);
      }
    }
    call->outputs.push_back({handle, static_cast<std::size_t>(bytes), false});
    written.push_back(op.births[k]);
  }
  std::vector<Handle> reads, writes;
  std::vector<BlockId> touched;  // by side effects
  for (const Access& access : op.accesses) {
    if (std::find(op.births.begin(), op.births.end(), access.block) != op.births.end()) continue;
    if (instances(access.block).empty()) continue;
    const Live& live = instances(access.block).back();
    if (access.side_effect) {
      if (live.content.empty()) continue;
      call->side_effects.push_back(live.handle);
      touched.push_back(access.block);
      continue;
    }
    if (access.reads) {
      call->inputs.push_back(
          {live.handle, hash_of(live.content.data(), live.content.size()), live.content.size()});
      reads.push_back(live.handle);
    }
    if (access.writes) {
      call->outputs.push_back({live.handle, live.content.size(), access.reads});
      written.push_back(access.block);
    }
  }
  for (const auto& output : call->outputs)
    if (output.handle != 0) writes.push_back(output.handle);
  const OpInfo info{
      .name = op.name, .phase = op.phase, .replayable = op.replayable, .side_effects = call->side_effects};
  bool done = false;
  try {
    device_.exec(info, reads, writes, [call](ExecContext& context) { (*call)(context); });
    done = true;
  } catch (const std::exception& error) {
    failed(error);
  }
  if (!done)
    for (const Handle handle : call->births) device_.free(handle);
  std::size_t birth = 0;
  for (std::size_t k = 0; k < call->outputs.size(); ++k) {
    const bool born = std::find(op.births.begin(), op.births.end(), written[k]) != op.births.end();
    if (born) {
      const bool inside = call->outputs[k].handle == 0;
      const Handle handle = inside ? (done ? call->births[birth++] : 0) : call->outputs[k].handle;
      if (handle == 0) {
        instances(written[k]).push_back(make(written[k], static_cast<Bytes>(call->outputs[k].bytes)));
        continue;
      }
      instances(written[k]).push_back({handle, Content(call->outputs[k].bytes)});
    }
    Live& live = instances(written[k]).back();
    if (done)
      call->write(live.content.data(), k);
    else
      refill(live);
  }
  for (const BlockId block : touched) {
    Live& live = instances(block).back();
    if (done)
      ++reinterpret_cast<unsigned char&>(live.content[0]);
    else
      refill(live);
  }
}

void ProgramRunner::free_dead(OpIndex op) {
  for (const BlockId b : program_.deaths(op)) {
    if (instances(b).empty()) continue;
    device_.free(instances(b).front().handle);
    instances(b).erase(instances(b).begin());
  }
}

void ProgramRunner::one_more() {
  for (auto& instances : live_) {
    if (instances.empty()) continue;
    Live& live = instances.back();
    auto call = std::make_shared<Call>();
    call->salt = ++calls_;
    call->wrong = wrong_;
    call->access = options_.bytes;
    call->inputs.push_back(
        {live.handle, hash_of(live.content.data(), live.content.size()), live.content.size()});
    call->outputs.push_back({live.handle, live.content.size(), true});
    try {
      device_.exec({.name = "one more"}, {&live.handle, 1}, {&live.handle, 1},
                   [call](ExecContext& context) { (*call)(context); });
      call->write(live.content.data(), 0);
    } catch (const std::exception& error) {
      failed(error);
      refill(live);
    }
    return;
  }
}

void ProgramRunner::finish() {
  for (auto& instances : live_) {
    for (Live& live : instances) {
      try {
        const Pin pin = device_.pin(live.handle, PinFor::reading);
        Content content(live.content.size());
        options_.bytes.load(content.data(), pin.data(), content.size());
        if (content != live.content) ++*wrong_;
      } catch (const std::exception& error) {
        failed(error);
      }
      device_.free(live.handle);
    }
    instances.clear();
  }
}

bool run_until_planned(ProgramRunner& runner, Device& device, int most_iterations) {
  constexpr int kMostWaits = 5'000;  // milliseconds, for a plan
  for (int i = 0; i < most_iterations; ++i) {
    runner.iterate();
    const DeviceStatus status = device.status();
    if (status.mode == Mode::planned) return true;
    if (!status.refusal.empty()) return false;
    for (int waits = 0; waits < kMostWaits && device.status().planning; ++waits)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace ebb::testing
