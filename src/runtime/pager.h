// Where blocks are. The pager gives them device memory, moves them to the host and back, and drops them; it
// orders all of that by events, so that the host thread waits for nothing that an engine could wait for. Whom
// to move is decided in victims.h.
//
// A block that leaves gives its region to the arena at once, with the event of its copy; whoever gets the
// region waits for that event. A block on its way back is resident at once; compute waits for its arrival at
// `begin_use`. A failed copy is tried once more, then BackendError passes and every block is where it was.
#pragma once

#include <cassert>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/block.h"
#include "runtime/copy_log.h"
#include "runtime/link_meter.h"
#include "runtime/out_of_memory.h"
#include "runtime/recent_times.h"
#include "runtime/recipe.h"
#include "runtime/residents.h"
#include "runtime/stall_meter.h"
#include "runtime/statistics.h"
#include "runtime/surprises.h"
#include "runtime/victims.h"

namespace ebb {

// Where a plan wants a block: at `begin`, or anywhere in a range that is larger than the block.
struct PlannedPlace {
  Bytes begin = kAnywhere;
  Bytes end = 0;
  bool planned() const { return begin != kAnywhere; }
};

struct PagerOptions {
  Bytes limit = 0;
  HostStoreOptions host = {};
  Bytes smallest_managed = 64 * kKiB;  // smaller blocks lie together and move only if nothing else helps
  bool may_move = true;                // false: nothing leaves (observe mode)
  bool may_drop = false;
  std::int64_t small_rest = 0;  // ops for which a small block stays after its last use …
  // … if it has at most so many bytes and is not managed. As a last resort one that was born before moves.
  Bytes largest_resting = 16 * kKiB;
  // Called when a block got another address, or none: it left.
  std::function<void(Handle, std::byte*)> on_move = {};
};

class Pager {
 public:
  // REQUIRES: all outlive the pager. Reserves the limit.
  Pager(Backend& backend, const PagerOptions& options, RecipeBook& recipes, DeviceStatistics& statistics);
  ~Pager();  // waits for the copies under way: the memory they use is about to go
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  // Gives a block without bytes a region that compute may use, evicting others if there is no room. false:
  // not possible.
  [[nodiscard]] bool place(PagedBlock& block, const PlannedPlace& where = {});
  // Starts the return of a block that is on the host. false: no room.
  [[nodiscard]] bool bring_in(PagedBlock& block) { return bring_in(block, Fit::best); }
  // Compute may use the bytes from here on. REQUIRES: resident and pinned.
  void begin_use(PagedBlock& block, bool writes) {
    begin_unseen_use(block, writes);
    touch(block);
  }
  // The same for a use that the program does not know of: it says nothing about the next one.
  void begin_unseen_use(PagedBlock& block, bool writes) {
    assert(block.resident() && "compute uses what is not there");
    if (block.at.arrived != kHappened) wait_for_arrival(block);
    if (writes && block.at.copied_until != kHappened) wait_for_copy_out(block);
  }
  // New bytes: a host copy is stale. REQUIRES: resident.
  void content_changed(PagedBlock& block) {
    if (block.clean()) give_host_copy(block);
    compute_advanced();
  }
  // Copies out and stays; from then on the block is clean. false: the host has no room. REQUIRES: resident.
  [[nodiscard]] bool start_copy_out(PagedBlock& block);
  // Undoes changes of a clean block since it was copied out, before `content_changed`. REQUIRES: resident and
  // clean.
  void restore(PagedBlock& block);
  // Takes a resident, unpinned block away: clean, dropped, or copied out. false: there is no way.
  [[nodiscard]] bool evict(PagedBlock& block);
  // Gives back all the block has.
  void release(PagedBlock& block);
  // The same as a plan asks for it: copied out unless it is clean, never dropped.
  [[nodiscard]] bool send_out(PagedBlock& block);
  // Drops it whatever that costs. false: it must stay. REQUIRES: resident and unpinned.
  [[nodiscard]] bool drop(PagedBlock& block);
  // Starts the return to a given place, sending away who is there. false: somebody there cannot go.
  [[nodiscard]] bool bring_in_at(PagedBlock& block, Bytes offset);
  // Empties a part of the arena and makes compute wait until it can be used. false: somebody cannot go.
  [[nodiscard]] bool clear(Bytes begin, Bytes end);
  // From now on what has no planned place goes to the high end, away from what has.
  void keep_low_end_for_plan(bool on) { low_end_is_planned_ = on; }
  // The dropped `target` gets what `temporary` has.
  void adopt(PagedBlock& target, PagedBlock& temporary);

  // Makes one hole of that size, evicting others. false: pinned blocks or the host leave no way.
  [[nodiscard]] bool make_hole(Bytes bytes);
  // Is there a hole of that size? If so, compute waits until it can be used, so that the op that fills it
  // does not have to.
  [[nodiscard]] bool wait_for_hole(Bytes bytes);
  // The last resort: all that is not pinned leaves; what the host does not take, and the operands — pinned
  // once, by the caller — move to the low end. One that goes over the host may be there afterwards. Of those
  // at rest, which may be thousands after an optimizer's step, the ones that were not born just now move too
  // if asked: what code between ops looks at are results.
  enum class Resting : char { stay, move };
  void compact(std::span<PagedBlock* const> operands, Resting resting = Resting::stay);
  // No block is dropped from now on, or again.
  void set_may_drop(bool may_drop) { options_.may_drop = may_drop; }
  bool may_drop() const { return options_.may_drop; }
  // Waits until no copy is under way.
  void finish_copies();
  // Where the bytes can be read once no copy is under way, on the device or on the host; nullptr: nowhere.
  const std::byte* readable(const PagedBlock& block) const;

  // To be thrown: there is no room for so many bytes in one piece. `what` begins the message.
  OutOfMemory no_room(const std::string& what, Bytes bytes) const;

  // The event of all that was enqueued on compute. Call `compute_advanced` when something was, by anyone.
  Event compute_mark(Stamp stamp = Stamp::none);
  void compute_advanced() { ++tick_; }
  // Nothing was since that event.
  bool is_all_of_compute(Event mark) const { return mark_ == mark && marked_tick_ == tick_; }
  // REQUIRES: the name stays until the op has ended.
  void op_began(std::string_view name) {
    if (++now_ - counted_at_ >= options_.small_rest) count_births();
    surprises_.op_began(name);
  }
  void op_ended() { surprises_.op_ended(); }
  void touch(PagedBlock& block) { block.last_use = now_; }

  // Neither pinned nor at rest.
  bool may_leave(const PagedBlock& block) const { return block.pins == 0 && !rests(block); }
  // … or at rest, but born before: code between ops reads what ops have just made.
  bool may_be_elsewhere(const PagedBlock& block) const {
    return block.pins == 0 && (!rests(block) || was_born_before(block));
  }
  // What has to stay on the device whatever happens, without what the last op used.
  Bytes bytes_that_stay() const;
  // How far from the low end all is taken by blocks that have to stay.
  Bytes pinned_ground() const;
  std::int64_t now() const { return now_; }  // in ops
  Bytes take_arena_peak() { return arena_.take_peak(); }
  // Resident blocks by offset.
  const OffsetMap<PagedBlock*>& residents() const { return residents_.in_order(); }
  Nanoseconds copy_time(Engine engine, Bytes bytes) const { return meter_.estimate(engine, bytes); }
  Nanoseconds copy_latency(Engine engine) const { return meter_.latency(engine); }
  std::optional<Bytes> bandwidth(Engine engine) const { return meter_.bandwidth(engine); }
  // What the host takes to start a copy.
  Nanoseconds copy_issue() const { return copy_issues_.median(); }
  HostStore& host() { return host_; }
  StallMeter& stalls() { return stalls_; }
  SurpriseLog& surprises() { return surprises_; }
  // Told of every copy, with the events around it.
  void set_copy_log(CopyLog* log) { copy_log_ = log; }

  BlockState state(const PagedBlock& block);
  std::byte* data(const PagedBlock& block) const { return device_ + block.at.region.offset; }
  const std::byte* memory() const { return device_; }  // all of it
  Bytes capacity() const { return arena_.capacity(); }
  bool may_move() const { return options_.may_move; }
  bool has_hole(Bytes bytes) const { return bytes <= 0 || arena_.has_hole(bytes); }
  std::string describe() const;  // limit, use, pins and holes, for messages
  void fill(DeviceStatistics& statistics) const;

 private:
  enum class Fit : char { best, lowest };
  struct AddressRange {
    Bytes begin = 0;
    Bytes end = 0;
  };
  AddressRange everywhere() const { return {0, arena_.capacity()}; }
  AddressRange below_zone() const { return {0, arena_.capacity() - resting_zone_}; }
  std::optional<Region> find_region(const PagedBlock& block, Engine engine, Fit fit);
  std::optional<Region> take_planned(Bytes bytes, const PlannedPlace& where);
  std::optional<Region> take_resting(Bytes bytes);
  // One stretch of the resting zone after the other, so that it costs the same however many lie there.
  bool clear_in_zone(Bytes bytes);
  std::optional<Region> take_other(const PagedBlock& block);
  bool send_away(Bytes begin, Bytes end);
  bool bring_in(PagedBlock& block, Fit fit);
  bool return_to(PagedBlock& block, const Region& region);
  void wait_for(Engine engine, const Region& region);
  void wait_for_arrival(PagedBlock& block);
  void wait_for_copy_out(PagedBlock& block);
  Event compute_so_far();
  void forget_the_past() {
    if (arena_.has_much_to_forget()) arena_.forget(backend_, compute_mark());
  }
  Event recorded(Event event);
  void compute_waits(Event event, StallCause cause);
  // A plan's copies and waits are the same every time, and a GPU's host pays for measuring them.
  bool measures_all() const { return !low_end_is_planned_ || (copy_log_ && copy_log_->wants_all()); }
  std::optional<PieceWindow> choose_window(Bytes need, bool small_too, AddressRange where);
  std::optional<Bytes> clear_window(Bytes need, AddressRange where);
  double cost_of_evicting(const PagedBlock& block, bool small_too) const;
  Nanoseconds copy_cost(const PagedBlock& block) const;
  bool try_drop(PagedBlock& block);
  bool may_drop(const PagedBlock& block) const;
  void leave_region(PagedBlock& block);
  void give_host_copy(PagedBlock& block);
  std::optional<HostPlace> take_host_place(Bytes bytes);
  bool copy_low(PagedBlock& block);
  void move_low(PagedBlock& block);
  bool return_low(PagedBlock& block);
  void slide_into(PagedBlock& block, Bytes hole_offset);
  void copy(Engine engine, std::byte* to, const std::byte* from, Bytes bytes);
  Event timed_copy(Engine engine, const PagedBlock& block, std::byte* to, const std::byte* from);
  void settle_in(PagedBlock& block, const Region& region);
  void note(SurpriseKind kind, Bytes bytes, Bytes offset, Bytes wanted, Bytes wanted_end);
  void tell(const PagedBlock& block) const {
    if (options_.on_move) options_.on_move(block.handle, block.resident() ? data(block) : nullptr);
  }
  bool rests(const PagedBlock& block) const {
    return may_rest(block) && now_ - block.last_use < options_.small_rest;
  }
  bool may_rest(const PagedBlock& block) const {
    return options_.small_rest > 0 && block.bytes <= options_.largest_resting && !managed(block);
  }
  // `small_rest` ops ago or longer: up to twice as long.
  bool was_born_before(const PagedBlock& block) const { return block.handle < born_before_; }
  void count_births() {
    born_before_ = std::exchange(born_lately_, recipes_.table().next_handle());
    counted_at_ = now_;
  }
  bool managed(const PagedBlock& block) const { return block.bytes >= options_.smallest_managed; }

  static constexpr int kMeasuredOfPlan = 8;  // one in so many copies and waits

  // What every op asks for comes first, as in PagedBlock.
  Backend& backend_;
  RecipeBook& recipes_;
  DeviceStatistics& statistics_;
  std::int64_t now_ = 0;           // ops so far
  std::uint64_t tick_ = 1;         // how often compute advanced
  std::uint64_t marked_tick_ = 0;  // … when `mark_` was recorded
  Event mark_ = kHappened;
  CopyLog* copy_log_ = nullptr;
  bool low_end_is_planned_ = false;
  PagerOptions options_;
  SurpriseLog surprises_;
  Arena arena_;
  std::byte* device_;
  std::vector<Event> waits_;     // kept between calls so that it allocates nothing in the long run
  mutable Residents residents_;  // puts them in order when it is asked
  HostStore host_;
  Event last_copy_[kEngines] = {};
  std::int64_t copies_ = 0;  // under plans
  StallMeter stalls_;
  LinkMeter meter_;
  Bytes resting_zone_;   // at the high end, for blocks that may rest: others go there only if they have to
  Bytes zone_hand_ = 0;  // where in it to look next for somebody to go
  RecentTimes copy_issues_;
  std::int64_t counted_at_ = 0;  // when births were counted last, in ops
  Handle born_lately_ = 0;       // what was born since then has this handle or a higher one
  Handle born_before_ = 0;       // … since the time before

  // Kept like `waits_`.
  std::vector<ArenaPiece> pieces_;
  std::vector<PagedBlock*> piece_blocks_;  // nullptr for a hole
  std::unordered_set<Handle> refused_;     // by the host, while a window is cleared
};

}  // namespace ebb
