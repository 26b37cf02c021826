#include "runtime/device.h"

#include <fmt/format.h>

#include "runtime/conductor.h"
#include "runtime/executor.h"
#include "runtime/reentrant_mutex.h"
#include "trace/error.h"

namespace ebb {

namespace {

PagerOptions pager_options(const DeviceOptions& options) {
  return {.limit = options.limit,
          .host = {.limit = options.host_limit, .slab_bytes = options.host_slab},
          .smallest_managed = options.smallest_managed,
          .may_move = options.mode != Mode::observe,
          .may_drop = options.mode != Mode::observe && options.allow_recompute,
          .small_rest = options.small_rest,
          .on_move = options.on_move};
}

OpClockOptions clock_options(const DeviceOptions& options) {
  OpClockOptions clock{.keeps_host_ahead = options.host_is_ahead && options.mode != Mode::reactive};
  if (options.machine) clock.bandwidth = options.machine->bandwidth_out;
  return clock;
}

const DeviceOptions& checked(const DeviceOptions& options) {
  if (options.limit < Arena::kAlignment || options.host_limit < 0 || options.host_slab <= 0)
    throw InputError(fmt::format("a device with a limit of {} bytes, a host limit of {} and host slabs of {}",
                                 options.limit, options.host_limit, options.host_slab));
  if (options.mode == Mode::planned && options.trace_events == 0)
    throw InputError("a device that is to plan has to record what happens: trace_events is 0");
  return options;
}

}  // namespace

// In the order in which they use each other.
struct Device::Parts {
  Parts(Backend& b, const DeviceOptions& options)
      : backend(b),
        recipes(table, {.most_steps = options.recipe_steps}),
        pager(b, pager_options(checked(options)), recipes, statistics),
        lifetimes(table, pager, recipes, statistics, guide),
        recorder(options.trace_events, options.clock),
        shared{table, pager, recipes, lifetimes, statistics, frame, guide},
        mode(options.mode),
        executor(b, shared, recorder,
                 {.seed = options.seed,
                  .keep_recipes = options.mode != Mode::observe && options.allow_recompute,
                  .time_ops = options.time_ops || options.allow_recompute,
                  .clock = clock_options(options)}) {
    if (options.mode != Mode::planned) return;
    if (!options.planner.empty()) find_planner(options.planner);
    ConductorOptions conducting;
    conducting.planning.planner = options.planner;
    conducting.planning.plan = options.plan;
    conducting.planning.capacity = pager.capacity();
    conducting.planning.smallest_managed = std::max<Bytes>(options.smallest_managed, 1);
    conducting.planning.host_is_ahead = options.host_is_ahead;
    conducting.planning.allow_recompute = options.allow_recompute;
    conducting.planning.deadline_seconds = options.planning_seconds;
    conducting.planning.exchange = options.exchange;
    if (!options.kept_plans.empty())
      conducting.planning.kept = std::make_shared<const KeptPlans>(options.kept_plans);
    conducting.machine = options.machine;
    conducting.link_is_shared = options.link_is_shared;
    conducting.records_plans = options.trace_plans;
    conductor.emplace(b, shared, executor.remaker(), recorder, executor.timer(), conducting);
    guide.current = &*conductor;
  }

  Backend& backend;
  mutable ReentrantMutex mutex;  // guards everything here
  FrameSlot frame;
  GuideSlot guide;
  DeviceStatistics statistics;
  BlockTable table;
  RecipeBook recipes;
  Pager pager;
  Lifetimes lifetimes;
  Recorder recorder;
  RuntimeParts shared;
  Mode mode;
  Executor executor;
  std::optional<Conductor> conductor;
};

using Lock = std::lock_guard<ReentrantMutex>;

Device::Device(Backend& backend, const DeviceOptions& options)
    : parts_(std::make_unique<Parts>(backend, options)) {}

Device::~Device() = default;

Handle Device::malloc(Bytes bytes) {
  const Lock lock(parts_->mutex);
  if (parts_->frame.current) return parts_->frame.current->malloc(bytes);
  if (bytes < 0) throw InputError(fmt::format("malloc of {} bytes", bytes));
  const Nanoseconds entered = parts_->executor.time();
  parts_->executor.update_times();
  PagedBlock& block = parts_->table.create(bytes);
  try {
    if (!parts_->pager.place(block, parts_->guide.place_of_malloc(bytes)))
      throw parts_->pager.no_room(fmt::format("malloc: no room for {} bytes", bytes), bytes);
  } catch (...) {
    parts_->lifetimes.erase(block);
    throw;
  }
  parts_->guide.malloced(block);
  parts_->recorder.malloc(block.handle, bytes);
  parts_->executor.host_was_held(parts_->executor.time() - entered);
  return block.handle;
}

void Device::free(Handle handle) {
  const Lock lock(parts_->mutex);
  PagedBlock* block = parts_->table.find(handle);
  const bool lives = block && !block->freed;
  if (!lives && parts_->executor.forget_abandoned(handle)) return;
  if (parts_->frame.current) return parts_->frame.current->free(handle);
  if (!lives) throw InputError(fmt::format("free: block {} does not exist", handle));
  parts_->recorder.free(handle);
  parts_->lifetimes.free(*block);
}

void Device::exec(const OpInfo& info, std::span<const Handle> reads, std::span<const Handle> writes,
                  const ExecFunction& function) {
  const Lock lock(parts_->mutex);
  parts_->executor.exec(info, reads, writes, function);
}

Pin Device::pin(Handle handle, PinFor purpose) {
  const Lock lock(parts_->mutex);
  if (parts_->frame.current) throw InputError(fmt::format("block {} is pinned inside an op", handle));
  PagedBlock& block = live_block(parts_->table, handle, "pin");
  parts_->executor.update_times();
  const BlockHold kept(block, &PagedBlock::keeps);
  BlockHold changing;
  KeptBlocks brought_back;
  Remaker& remaker = parts_->executor.remaker();
  const bool writes = purpose == PinFor::writing;
  if (writes) {
    changing = BlockHold(block, &PagedBlock::changing);
    remaker.prepare_change(block, brought_back);
  }
  if (block.dropped()) remaker.remake(block);
  if (!block.resident() && !parts_->pager.bring_in(block))
    throw parts_->pager.no_room(fmt::format("pin: no room for {} bytes", block.bytes), block.bytes);
  parts_->pager.begin_use(block, writes);
  ++block.pins;
  if (writes) {
    ++block.changing;
    parts_->pager.content_changed(block);
    ++block.version;
    block.maker = kNoStep;
  }
  return Pin(*this, handle, purpose, parts_->pager.data(block));
}

void Device::unpin(Handle handle, PinFor purpose) {
  const Lock lock(parts_->mutex);
  PagedBlock& block = *parts_->table.find(handle);
  parts_->pager.compute_advanced();
  --block.pins;
  if (purpose == PinFor::writing) {
    --block.changing;
    parts_->pager.content_changed(block);
    ++block.version;
  }
  parts_->lifetimes.reap(handle);
}

void Device::evict_all() {
  const Lock lock(parts_->mutex);
  if (parts_->frame.current) return;
  parts_->executor.update_times();
  if (parts_->conductor) parts_->conductor->let_freed_go();
  parts_->pager.compact({});
}

void Device::settle() {
  const Lock lock(parts_->mutex);
  const bool may_drop = parts_->pager.may_drop();
  parts_->pager.set_may_drop(false);
  try {
    for (const Handle handle : parts_->recipes.dropped_blocks())
      if (PagedBlock* block = parts_->table.find(handle); block && block->dropped())
        parts_->executor.remaker().remake(*block);
  } catch (...) {
    parts_->pager.set_may_drop(may_drop);
    throw;
  }
  parts_->pager.set_may_drop(may_drop);
  parts_->pager.finish_copies();
}

const std::byte* Device::readable(Handle handle) const {
  const Lock lock(parts_->mutex);
  const PagedBlock* block = parts_->table.find(handle);
  return block ? parts_->pager.readable(*block) : nullptr;
}

BlockState Device::state(Handle handle) const {
  const Lock lock(parts_->mutex);
  const PagedBlock* block = parts_->table.find(handle);
  return block ? parts_->pager.state(*block) : BlockState::dead;
}

Bytes Device::bytes_that_stay() const {
  const Lock lock(parts_->mutex);
  return parts_->pager.bytes_that_stay();
}

DeviceStatistics Device::statistics() const {
  const Lock lock(parts_->mutex);
  DeviceStatistics statistics = parts_->statistics;
  parts_->pager.fill(statistics);
  statistics.blocks = static_cast<std::int64_t>(parts_->table.size());
  statistics.recorded_steps = static_cast<std::int64_t>(parts_->recipes.steps());
  return statistics;
}

void Device::stop_planning() {
  const Lock lock(parts_->mutex);
  if (parts_->conductor) parts_->conductor->stop_planning();
}

DeviceStatus Device::status() const {
  const Lock lock(parts_->mutex);
  return parts_->conductor ? parts_->conductor->status() : DeviceStatus{.mode = parts_->mode};
}

std::vector<IterationStatistics> Device::iterations() const {
  const Lock lock(parts_->mutex);
  if (!parts_->conductor) return {};
  parts_->conductor->log().update();
  const auto& iterations = parts_->conductor->log().iterations();
  return {iterations.begin(), iterations.end()};
}

std::optional<StepComparison> Device::comparison() const {
  const Lock lock(parts_->mutex);
  if (!parts_->conductor) return std::nullopt;
  parts_->conductor->log().update();
  return parts_->conductor->comparison();
}

std::optional<FollowedStep> Device::followed() const {
  const Lock lock(parts_->mutex);
  return parts_->conductor ? parts_->conductor->followed() : std::nullopt;
}

std::vector<Surprise> Device::surprises() const {
  const Lock lock(parts_->mutex);
  const std::deque<Surprise>& log = parts_->pager.surprises().log();
  return {log.begin(), log.end()};
}

const Trace& Device::trace() const {
  const Lock lock(parts_->mutex);
  return parts_->recorder.trace();
}

void Device::write_trace(const std::string& path) const {
  const Lock lock(parts_->mutex);
  parts_->recorder.write(path);
}

void Device::synchronize() {
  const Lock lock(parts_->mutex);
  parts_->backend.synchronize(parts_->pager.compute_mark());
}

}  // namespace ebb
