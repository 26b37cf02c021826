#include "runtime/pager.h"

#include <algorithm>
#include <cassert>

#include "backend/events.h"

namespace ebb {

using Place = Residence::Place;

namespace {

// Enough to begin with, and too little to be missed.
Bytes first_resting_zone(const PagerOptions& options, Bytes capacity) {
  return options.small_rest > 0 ? std::min(kMiB, capacity / 16) / Arena::kAlignment * Arena::kAlignment : 0;
}

}  // namespace

Pager::Pager(Backend& backend, const PagerOptions& options, RecipeBook& recipes, DeviceStatistics& statistics)
    : backend_(backend),
      recipes_(recipes),
      statistics_(statistics),
      options_(options),
      arena_(options.limit),
      device_(backend.reserve(std::max(arena_.capacity(), Arena::kAlignment))),
      residents_(recipes.table()),
      host_(backend, options.host),
      resting_zone_(first_resting_zone(options, arena_.capacity())) {}

void Pager::finish_copies() {
  for (const Event event : last_copy_)
    if (event != kHappened) backend_.synchronize(event);
}

const std::byte* Pager::readable(const PagedBlock& block) const {
  if (block.resident()) return data(block);
  return block.clean() ? host_.address(block.at.host.place) : nullptr;
}

Pager::~Pager() {
  try {
    finish_copies();
  } catch (const BackendError&) {
    // The backend is broken; it waits for its own engines when it goes.
  }
}

Event Pager::compute_mark(Stamp stamp) {
  if (marked_tick_ < tick_ || (stamp == Stamp::time && !is_stamped(mark_)))
    mark_ = backend_.record(Engine::compute, stamp);
  marked_tick_ = tick_;
  return mark_;
}

// What is freed is mostly taken by compute again, which needs no event: it is recorded when a copy needs one.
// Plans issue copies when they can begin, and where nobody had to leave nobody returns. Else, on demand, a
// copy may wait for something long past.
Event Pager::compute_so_far() {
  const bool copies_come_late = !low_end_is_planned_ && statistics_.evictions > 0;
  return !copies_come_late && marked_tick_ < tick_ ? unrecorded(tick_) : compute_mark();
}

Event Pager::recorded(Event event) {
  if (!is_unrecorded(event)) return event;
  return tick_of(event) <= marked_tick_ ? mark_ : compute_mark();
}

void Pager::settle_in(PagedBlock& block, const Region& region) {
  block.at.place = Place::device;
  block.at.region = region;
  residents_.add(block);
}

bool Pager::place(PagedBlock& block, const PlannedPlace& where) {
  assert(block.at.place == Place::none && "a block with bytes or a recipe gets no others");
  std::optional<Region> region;
  if (where.planned() && (region = take_planned(block.bytes, where))) wait_for(Engine::compute, *region);
  if (!region) region = find_region(block, Engine::compute, Fit::best);
  if (!region) return false;
  settle_in(block, *region);
  touch(block);
  return true;
}

bool Pager::bring_in(PagedBlock& block, Fit fit) {
  assert(block.at.place == Place::host && "only what is on the host can come back from it");
  if (block.home != kAnywhere && fit == Fit::best) {
    waits_.clear();
    if (const std::optional<Region> home = arena_.take_at(block.home, block.bytes, waits_)) {
      wait_for(Engine::in, *home);
      return return_to(block, *home);
    }
  }
  const std::optional<Region> region = find_region(block, Engine::in, fit);
  return region && return_to(block, *region);
}

bool Pager::bring_in_at(PagedBlock& block, Bytes offset) {
  assert(block.at.place == Place::host && "only what is on the host can come back from it");
  const std::optional<Region> region =
      take_planned(block.bytes, {offset, offset + Arena::rounded(block.bytes)});
  if (!region) return false;
  wait_for(Engine::in, *region);
  return return_to(block, *region);
}

bool Pager::return_to(PagedBlock& block, const Region& region) {
  const TimeOfScope timed(measures_all() ? &copy_issues_ : nullptr);
  HostCopy& host = block.at.host;
  try {
    if (host.valid_from != kHappened) backend_.wait(Engine::in, host.valid_from);
    host.last_used = timed_copy(Engine::in, block, device_ + region.offset, host_.address(host.place));
  } catch (...) {
    arena_.give(region, backend_.record(Engine::in));
    throw;
  }
  settle_in(block, region);
  block.at.arrived = host.last_used;
  statistics_.bytes_in += block.bytes;
  tell(block);
  return true;
}

void Pager::wait_for_arrival(PagedBlock& block) {
  compute_waits(block.at.arrived, StallCause::copy_in);
  block.at.arrived = kHappened;
}

void Pager::wait_for_copy_out(PagedBlock& block) {
  compute_waits(block.at.copied_until, StallCause::sync);
  block.at.copied_until = kHappened;
}

void Pager::give_host_copy(PagedBlock& block) {
  if (!block.clean()) return;
  host_.give(block.at.host.place, block.at.host.last_used);
  block.at.clean = false;
}

bool Pager::start_copy_out(PagedBlock& block) {
  assert(block.resident() && !block.clean() && "nothing to copy out");
  const TimeOfScope timed(measures_all() ? &copy_issues_ : nullptr);
  const std::optional<HostPlace> place = take_host_place(block.bytes);
  if (!place) return false;
  try {
    for (const Event event : waits_) backend_.wait(Engine::out, event);
    backend_.wait(Engine::out, compute_mark());
    if (block.at.arrived != kHappened) backend_.wait(Engine::out, block.at.arrived);
    const Event copied = timed_copy(Engine::out, block, host_.address(*place), data(block));
    block.at.host = {.place = *place, .valid_from = copied, .last_used = copied};
    block.at.clean = true;
    block.at.copied_until = copied;
  } catch (...) {
    host_.give(*place, backend_.record(Engine::out));
    throw;
  }
  statistics_.bytes_out += block.bytes;
  return true;
}

void Pager::restore(PagedBlock& block) {
  assert(block.resident() && block.clean() && "there is nothing to restore from");
  HostCopy& host = block.at.host;
  backend_.wait(Engine::in, compute_mark());
  backend_.wait(Engine::in, host.valid_from);
  host.last_used = timed_copy(Engine::in, block, data(block), host_.address(host.place));
  block.at.arrived = host.last_used;
  statistics_.bytes_in += block.bytes;
}

std::optional<HostPlace> Pager::take_host_place(Bytes bytes) {
  waits_.clear();
  std::optional<HostPlace> place = host_.take(bytes, waits_);
  // Copies of blocks that are here too are a convenience: they go when the host is full.
  if (!place)
    for (const auto& [offset, block] : residents()) {
      if (!block->clean()) continue;
      give_host_copy(*block);
      if ((place = host_.take(bytes, waits_))) break;
    }
  return place;
}

void Pager::leave_region(PagedBlock& block) {
  const Event events[] = {compute_so_far(), block.at.arrived, block.at.copied_until};
  residents_.remove(block);
  arena_.give(block.at.region, events);
  block.at.region = {};
  block.at.arrived = kHappened;
  block.at.copied_until = kHappened;
  block.at.place = block.clean() ? Place::host : Place::dropped;
}

bool Pager::may_drop(const PagedBlock& block) const {
  return options_.may_drop && block.keeps == 0 && block.changing == 0 && block.maker != kNoStep;
}

bool Pager::drop(PagedBlock& block) {
  assert(block.resident() && block.pins == 0 && "only what is there and unpinned can leave");
  if (!may_drop(block)) return false;
  std::optional<ReplayRecipe> recipe = recipes_.recipe_for(block, recipes_.options().longest_planned_recipe);
  if (!recipe || !recipes_.drop(block, std::move(*recipe))) return false;
  give_host_copy(block);
  ++statistics_.drops;
  ++statistics_.evictions;
  leave_region(block);
  tell(block);
  return true;
}

bool Pager::send_out(PagedBlock& block) {
  assert(block.resident() && block.pins == 0 && "only what is there and unpinned can leave");
  if (block.clean())
    ++statistics_.clean_evictions;
  else if (!start_copy_out(block))
    return false;
  ++statistics_.evictions;
  leave_region(block);
  tell(block);
  return true;
}

bool Pager::try_drop(PagedBlock& block) {
  if (!may_drop(block)) return false;
  std::optional<ReplayRecipe> recipe = recipes_.recipe_for(block);
  if (!recipe || !recipe->duration) return false;
  if (*recipe->duration + meter_.estimate(Engine::in, recipe->bytes_away) > copy_cost(block)) return false;
  if (!recipes_.drop(block, std::move(*recipe))) return false;
  ++statistics_.drops;
  return true;
}

bool Pager::evict(PagedBlock& block) {
  assert(block.resident() && block.pins == 0 && "only what is there and unpinned can leave");
  if (block.clean())
    ++statistics_.clean_evictions;
  else if (!try_drop(block) && !start_copy_out(block))
    return false;
  ++statistics_.evictions;
  leave_region(block);
  tell(block);
  return true;
}

void Pager::release(PagedBlock& block) {
  if (block.resident()) leave_region(block);
  give_host_copy(block);
  block.at = {};
}

void Pager::adopt(PagedBlock& target, PagedBlock& temporary) {
  assert(target.dropped() && temporary.has_bytes() && "only a dropped block takes over what another has");
  target.at = std::exchange(temporary.at, {});
  if (target.resident()) residents_.add(target);
  touch(target);
  tell(target);
}

void Pager::copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes == 0) return;
  try {
    backend_.copy(engine, to, from, bytes);
  } catch (const BackendError&) {
    ++statistics_.copy_retries;
    backend_.copy(engine, to, from, bytes);
  }
}

Event Pager::timed_copy(Engine engine, const PagedBlock& block, std::byte* to, const std::byte* from) {
  const bool is_timed = measures_all() || ++copies_ % kMeasuredOfPlan == 0;
  const Stamp stamp = is_timed ? Stamp::time : Stamp::none;
  const Event start = is_timed ? backend_.record(engine, stamp) : kHappened;
  copy(engine, to, from, block.bytes);
  const Event end = backend_.record(engine, stamp);
  last_copy_[static_cast<std::size_t>(engine)] = end;
  if (!is_timed) return end;
  meter_.update(backend_);
  meter_.add(engine, start, end, block.bytes);
  if (copy_log_) copy_log_->copied(engine, block, start, end);
  return end;
}

}  // namespace ebb
