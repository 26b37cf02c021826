// The pager's search for room: windows, holes and compaction.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <tuple>

#include "backend/events.h"
#include "runtime/pager.h"

namespace ebb {

namespace {
constexpr Bytes kStretch = 128 * kKiB;  // of the small blocks' zone is looked at for one of them to go
constexpr Bytes kMostPieces = 1024;  // in which a block slides into a smaller hole rather than over the host
}  // namespace

std::optional<Region> Pager::find_region(const PagedBlock& block, Engine engine, Fit fit) {
  forget_the_past();
  waits_.clear();
  std::optional<Region> region;
  if (fit == Fit::lowest)
    region = arena_.take_lowest(block.bytes, waits_);
  else if (low_end_is_planned_)
    region = arena_.take_highest(block.bytes, waits_);
  else
    region = may_rest(block) ? take_resting(block.bytes) : take_other(block);
  if (!region) {
    std::optional<Bytes> offset = clear_window(block.bytes, everywhere());
    if (!offset && !refused_.empty()) {
      // What the host does not take moves together instead.
      compact({});
      offset = clear_window(block.bytes, everywhere());
    }
    if (!offset) return std::nullopt;
    waits_.clear();
    region = arena_.take_at(*offset, block.bytes, waits_);
    assert(region && "a cleared window is not free");
  }
  wait_for(engine, *region);
  return region;
}

std::optional<Region> Pager::take_other(const PagedBlock& block) {
  const Bytes zone = arena_.capacity() - resting_zone_;
  if (resting_zone_ == 0 && !managed(block)) return arena_.take_highest(block.bytes, waits_);
  std::optional<Region> region = arena_.take_below(zone, block.bytes, waits_);
  // Where somebody had to leave before, rather so again than among those that stay.
  if (!region && resting_zone_ > 0 && statistics_.evictions > 0) {
    const std::optional<Bytes> offset = clear_window(block.bytes, below_zone());
    waits_.clear();
    if (offset) return arena_.take_at(*offset, block.bytes, waits_);
  }
  return region ? region : arena_.take(block.bytes, waits_);
}

std::optional<Region> Pager::take_resting(Bytes bytes) {
  const Bytes capacity = arena_.capacity();
  const Bytes zone = capacity - resting_zone_;
  const Bytes larger = zone - Arena::rounded(bytes);
  const bool may_grow = larger >= capacity / 2;
  std::optional<Region> region = arena_.take_highest(bytes, waits_, zone);
  if (region) return region;
  if (statistics_.evictions == 0 && (region = arena_.take_highest(bytes, waits_))) {
    if (region->end() == zone && may_grow) resting_zone_ = capacity - larger;
    return region;
  }
  bool cleared = clear_in_zone(bytes);
  if (!cleared && may_grow && (cleared = clear_window(bytes, {larger, capacity}).has_value()))
    resting_zone_ = capacity - larger;
  waits_.clear();
  return arena_.take_highest(bytes, waits_, cleared ? capacity - resting_zone_ : 0);
}

bool Pager::clear_in_zone(Bytes bytes) {
  const AddressRange zone{arena_.capacity() - resting_zone_, arena_.capacity()};
  const Bytes stretch = std::max(kStretch, 4 * Arena::rounded(bytes));
  for (Bytes seen = 0; seen + stretch < resting_zone_; seen += stretch) {
    if (zone_hand_ < zone.begin || zone_hand_ >= zone.end) zone_hand_ = zone.begin;
    const AddressRange where{zone_hand_, std::min(zone_hand_ + stretch, zone.end)};
    zone_hand_ = where.end;
    if (clear_window(bytes, where)) return true;
  }
  return clear_window(bytes, zone).has_value();
}

void Pager::wait_for(Engine engine, const Region& region) {
  try {
    for (const Event event : waits_)
      if (engine == Engine::compute)
        compute_waits(event, StallCause::room);
      else
        backend_.wait(engine, recorded(event));
  } catch (...) {
    arena_.give(region, waits_);
    throw;
  }
}

void Pager::compute_waits(Event event, StallCause cause) {
  if (engine_of(event) == Engine::compute) return;
  stalls_.wait(backend_, event, cause, measures_all() ? 1 : kMeasuredOfPlan);
  compute_advanced();
}

bool Pager::send_away(Bytes begin, Bytes end) {
  if (!options_.may_move) return false;
  for (;;) {
    const auto it = residents().lower_bound(end);
    if (it == residents().begin()) return true;
    PagedBlock& block = *std::prev(it)->second;
    if (block.at.region.end() <= begin) return true;
    const Bytes offset = block.at.region.offset;
    if (!may_leave(block) || !evict(block)) return false;
    ++statistics_.displaced;
    note(SurpriseKind::displaced, block.bytes, offset, begin, end);
  }
}

std::optional<Region> Pager::take_planned(Bytes bytes, const PlannedPlace& where) {
  forget_the_past();
  waits_.clear();
  if (where.end > arena_.capacity()) return std::nullopt;
  std::optional<Region> region = arena_.take_within(where.begin, where.end, bytes, waits_);
  if (!region && where.end - where.begin >= Arena::rounded(bytes) && send_away(where.begin, where.end)) {
    waits_.clear();
    region = arena_.take_within(where.begin, where.end, bytes, waits_);
  }
  if (!region) {
    ++statistics_.misplaced;
    note(SurpriseKind::misplaced, bytes, -1, where.begin, where.end);
  }
  return region;
}

void Pager::note(SurpriseKind kind, Bytes bytes, Bytes offset, Bytes wanted, Bytes wanted_end) {
  if (low_end_is_planned_)
    surprises_.add({.kind = kind,
                    .at = now_,
                    .bytes = bytes,
                    .offset = offset,
                    .wanted = wanted,
                    .wanted_end = wanted_end});
}

bool Pager::clear(Bytes begin, Bytes end) {
  end = std::min(end, arena_.capacity());
  waits_.clear();
  bool is_free = arena_.is_free(begin, end, waits_);
  if (!is_free) {
    if (!send_away(begin, end)) return false;
    waits_.clear();
    is_free = arena_.is_free(begin, end, waits_);
  }
  for (const Event event : waits_) compute_waits(event, StallCause::room);
  return is_free;
}

Nanoseconds Pager::copy_cost(const PagedBlock& block) const {
  return (block.clean() ? 0 : meter_.estimate(Engine::out, block.bytes)) +
         meter_.estimate(Engine::in, block.bytes);
}

double Pager::cost_of_evicting(const PagedBlock& block, bool small_too) const {
  if (block.pins > 0 || rests(block) || (!small_too && !managed(block)) || refused_.contains(block.handle))
    return kImmovable;
  Victim victim{.copy_out = block.clean() ? 0 : meter_.estimate(Engine::out, block.bytes),
                .copy_in = meter_.estimate(Engine::in, block.bytes),
                .idle_ops = now_ - block.last_use};
  if (block.next_use > now_) victim.next_use_in = block.next_use - now_;
  if (options_.may_drop && block.keeps == 0 && !block.clean()) victim.remake = recipes_.maker_duration(block);
  return cost_of(victim);
}

std::optional<PieceWindow> Pager::choose_window(Bytes need, bool small_too, AddressRange where) {
  pieces_.clear();
  piece_blocks_.clear();
  auto free = arena_.pieces().first_from(where.begin);
  const auto add_holes_before = [&](Bytes offset) {
    for (; free != arena_.pieces().end() && free->first < offset; ++free) {
      const Bytes low = std::max(free->first, where.begin);
      const Bytes high = std::min(free->second.end, where.end);
      if (low >= high) continue;
      if (!pieces_.empty() && !piece_blocks_.back() && pieces_.back().end() == low) {
        pieces_.back().bytes += high - low;
        continue;
      }
      pieces_.push_back({low, high - low, 0});
      piece_blocks_.push_back(nullptr);
    }
  };
  const OffsetMap<PagedBlock*>& residents = this->residents();
  for (auto resident = residents.first_from(where.begin); resident != residents.end(); ++resident) {
    const auto& [offset, block] = *resident;
    if (offset >= where.end) break;
    const Bytes low = std::max(offset, where.begin), high = std::min(block->at.region.end(), where.end);
    if (low >= high) continue;
    add_holes_before(offset);
    pieces_.push_back({low, high - low, cost_of_evicting(*block, small_too)});
    piece_blocks_.push_back(block);
  }
  add_holes_before(where.end);
  return cheapest_window(pieces_, need);
}

std::optional<Bytes> Pager::clear_window(Bytes bytes, AddressRange where) {
  const Bytes need = Arena::rounded(bytes);
  if (!options_.may_move || need > arena_.capacity()) return std::nullopt;
  meter_.update(backend_);
  refused_.clear();
  for (;;) {
    std::optional<PieceWindow> window = choose_window(need, false, where);
    if (!window) window = choose_window(need, true, where);
    if (!window) return std::nullopt;
    bool cleared = true;
    for (std::size_t i = window->first; i < window->last && cleared; ++i)
      if (piece_blocks_[i] && !evict(*piece_blocks_[i])) {
        refused_.insert(piece_blocks_[i]->handle);
        cleared = false;
      }
    if (!cleared) continue;
    for (std::size_t i = window->first; i < window->last; ++i)
      if (piece_blocks_[i])
        note(SurpriseKind::evicted, piece_blocks_[i]->bytes, pieces_[i].offset, pieces_[window->first].offset,
             pieces_[window->first].offset + need);
    return pieces_[window->first].offset;
  }
}

bool Pager::make_hole(Bytes bytes) {
  if (has_hole(bytes)) return true;
  return clear_window(bytes, everywhere()).has_value();
}

bool Pager::wait_for_hole(Bytes bytes) {
  if (bytes <= 0) return true;
  const std::optional<Region> hole = arena_.best_fit(bytes);
  if (!hole) return false;
  waits_.clear();
  std::ignore = arena_.is_free(hole->offset, hole->end(), waits_);
  for (const Event event : waits_) compute_waits(event, StallCause::room);
  return true;
}

bool Pager::copy_low(PagedBlock& block) {
  const std::optional<Bytes> offset = arena_.lowest_fit(block.bytes);
  if (!offset || *offset > block.at.region.offset) return false;
  begin_unseen_use(block, true);
  waits_.clear();
  const std::optional<Region> region = arena_.take_at(*offset, block.bytes, waits_);
  try {
    for (const Event event : waits_) compute_waits(event, StallCause::room);
    copy(Engine::compute, device_ + region->offset, data(block), block.bytes);
    compute_advanced();
  } catch (...) {
    arena_.give(*region, backend_.record(Engine::compute));
    throw;
  }
  residents_.remove(block);
  arena_.give(block.at.region, compute_mark());
  settle_in(block, *region);
  tell(block);
  return true;
}

bool Pager::return_low(PagedBlock& block) {
  struct LiftedPins {
    PagedBlock& block;
    int pins = std::exchange(block.pins, 0);
    ~LiftedPins() { block.pins = pins; }
  };
  const BlockHold keep(block, &PagedBlock::keeps);
  const LiftedPins lifted{block};
  return evict(block) && bring_in(block, Fit::lowest);
}

void Pager::slide_into(PagedBlock& block, Bytes hole_offset) {
  const Region from = block.at.region;
  const Bytes distance = from.offset - hole_offset;
  begin_unseen_use(block, true);
  waits_.clear();
  const Region hole = *arena_.take_at(hole_offset, distance, waits_);
  wait_for(Engine::compute, hole);
  try {
    // Pieces no longer than the hole do not overlap with where they go.
    for (Bytes done = 0; done < block.bytes; done += distance)
      copy(Engine::compute, device_ + hole.offset + done, device_ + from.offset + done,
           std::min(distance, block.bytes - done));
    compute_advanced();
  } catch (...) {
    arena_.give(hole, backend_.record(Engine::compute));
    throw;
  }
  residents_.remove(block);
  arena_.give({hole.offset + from.bytes, distance}, compute_mark());
  settle_in(block, {hole.offset, from.bytes});
  tell(block);
}

void Pager::move_low(PagedBlock& block) {
  if (copy_low(block)) return;
  const Region hole = arena_.hole_below(block.at.region.offset);
  if (hole.bytes == 0) return;
  if (block.bytes / hole.bytes > kMostPieces && return_low(block)) return;
  if (block.resident()) slide_into(block, hole.offset);
}

void Pager::compact(std::span<PagedBlock* const> operands, Resting resting) {
  if (!options_.may_move) return;
  ++statistics_.compactions;
  std::vector<PagedBlock*> moving;
  for (const auto& [offset, block] : residents())
    if (may_leave(*block)) moving.push_back(block);
  std::erase_if(moving, [&](PagedBlock* block) { return evict(*block); });
  for (PagedBlock* block : operands)
    if (block->resident() && block->pins == 1) moving.push_back(block);
  if (resting == Resting::move)
    for (const auto& [offset, block] : residents())
      if (rests(*block) && may_be_elsewhere(*block)) moving.push_back(block);
  const auto by_offset = [](const PagedBlock* a, const PagedBlock* b) {
    return a->at.region.offset < b->at.region.offset;
  };
  std::sort(moving.begin(), moving.end(), by_offset);
  for (PagedBlock* block : moving) move_low(*block);
}

Bytes Pager::bytes_that_stay() const {
  Bytes bytes = 0;
  for (const auto& [offset, block] : residents())
    if (!may_leave(*block) && block->last_use < now_) bytes += block->at.region.bytes;
  return bytes;
}

Bytes Pager::pinned_ground() const {
  Bytes ground = 0;
  for (const auto& [offset, block] : residents()) {
    if (offset != ground || block->pins == 0 || block->last_use == now_) break;
    ground = block->at.region.end();
  }
  return ground;
}

std::string Pager::describe() const {
  Bytes pinned = 0, resting = 0;
  int pinned_blocks = 0;
  for (const auto& [offset, block] : residents())
    if (block->pins > 0)
      pinned += block->at.region.bytes, ++pinned_blocks;
    else if (rests(*block))
      resting += block->at.region.bytes;
  std::string text = fmt::format(
      "limit {} bytes, {} in use, {} of them pinned in {} blocks and {} in small ones used just now,"
      " largest hole {}",
      arena_.capacity(), arena_.in_use(), pinned, pinned_blocks, resting, arena_.largest_hole());
  if (!refused_.empty()) text += "; " + host_.refusal();
  return text;
}

OutOfMemory Pager::no_room(const std::string& what, Bytes bytes) const {
  const Bytes lacking = Arena::rounded(bytes) - arena_.largest_hole();
  return OutOfMemory(fmt::format("{}: {}", what, describe()), std::max<Bytes>(lacking, 0));
}

void Pager::fill(DeviceStatistics& statistics) const {
  statistics.arena_in_use = arena_.in_use();
  statistics.arena_high_water = arena_.high_water();
  statistics.host_in_use = host_.in_use();
  statistics.host_high_water = host_.high_water();
  statistics.host_reserved = host_.reserved();
}

BlockState Pager::state(const PagedBlock& block) {
  if (block.freed) return BlockState::dead;
  if (block.dropped()) return BlockState::dropped;
  if (block.resident()) {
    const bool here = block.at.arrived == kHappened || backend_.happened(block.at.arrived);
    return here ? BlockState::resident : BlockState::returning;
  }
  return backend_.happened(block.at.host.valid_from) ? BlockState::on_host : BlockState::leaving;
}

}  // namespace ebb
