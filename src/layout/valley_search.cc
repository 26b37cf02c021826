#include "layout/valley_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "layout/skyline.h"
#include "layout/value_order.h"

namespace ebb::layout {
namespace {

constexpr Units kNever = std::numeric_limits<Units>::max();
constexpr std::int64_t kDeadEndsPerRestart = 100;
constexpr std::int64_t kBranchesPerClockReading = 64;
constexpr std::int64_t kWorkPerStep = 1024;

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …
std::int64_t luby(std::int64_t i) {
  for (std::int64_t k = 1;; k *= 2) {
    if (i == 2 * k - 1) return k;
    if (i < 2 * k - 1) return luby(i - k + 1);
  }
}

// Sections first … first + count - 1 of the ring, which no unplaced item leaves. If it is the whole ring and
// items cross everywhere, its two ends are neighbours.
struct Part {
  int first = 0;
  int count = 0;
  Units slack = kNever;
  bool closed = false;
};

// Where to branch: the section, and the run of equal floors around it.
struct Valley {
  int section = 0;
  int first = 0;
  int last = 0;
  Units wall = kNever;  // the lower of the floors beside the run
};

// A node of the search tree on the way from the root to where the search stands: either parts that must all
// be solved, or the items that are tried on one valley's floor.
struct Node {
  bool is_division = false;
  Part part = {};  // the part the valley is in
  Valley valley = {};
  Units floor = 0;        // the valley's, before any item was excluded
  std::size_t mark = 0;   // of the skyline, before the item that is being tried
  std::size_t first = 0;  // first … last - 1 on the stack of parts or of options are this node's
  std::size_t next = 0;
  std::size_t last = 0;
};

// Depth first, with the open nodes on the heap: a search goes deeper than a thread's stack is long.
class ValleySearch {
 public:
  ValleySearch(const Instance& instance, Units ceiling, std::uint64_t seed, SearchBudget& budget)
      : items_(instance.items), skyline_(instance, ceiling), order_(instance, seed), budget_(budget) {
    find_twins();
  }

  SearchResult run() {
    for (std::int64_t round = 1; !budget_.is_spent(); ++round) {
      if (!skyline_.reset()) return {.end = SearchEnd::kDoesNotFit};
      order_.draw();
      dead_ends_left_ = kDeadEndsPerRestart * luby(round);
      const SearchEnd end = search({.first = 0, .count = skyline_.sections()});
      if (end == SearchEnd::kFits) return {.end = end, .offsets = offsets()};
      if (end == SearchEnd::kDoesNotFit) return {.end = end};
    }
    return {.end = SearchEnd::kOutOfBudget};
  }

 private:
  // How what was entered or gone on with ended; nothing if a node was opened instead.
  using Ended = std::optional<SearchEnd>;

  SearchEnd search(const Part& whole);
  Ended enter_division(const Part& part);
  Ended enter_branch(const Part& part);
  Ended follow(const Part& part, bool was_possible, bool has_new_cut);
  Ended go_on(Ended below);
  Ended try_next_part(Ended below);
  Ended try_next_option(Ended below);
  Ended leave_floor(const Part& part, const Valley& valley, Units floor);
  bool exclude(int item, const Valley& valley);
  void push_parts(const Part& part);
  void push_options(int section);
  Valley choose_valley(const Part& part) const;
  Units next_level(const Valley& valley) const;
  void find_twins();

  int on_ring(int position) const {
    return position < skyline_.sections() ? position : position - skyline_.sections();
  }

  bool gives_up() {
    budget_.steps -= 1 + skyline_.take_work() / kWorkPerStep;
    if (++branches_ % kBranchesPerClockReading == 0 && budget_.is_spent()) budget_.steps = 0;
    return budget_.steps <= 0 || dead_ends_left_ <= 0;
  }

  std::vector<Units> offsets() const {
    std::vector<Units> result(items_.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = skyline_.lowest(static_cast<int>(i));
    return result;
  }

  const std::vector<Item>& items_;
  Skyline skyline_;
  ValueOrder order_;
  SearchBudget& budget_;
  std::int64_t dead_ends_left_ = 0;
  std::int64_t branches_ = 0;
  std::vector<int> earlier_twin_;  // an item of the same sections and size that is tried first, or -1
  std::vector<Node> open_;
  // Stacks, shared by all open nodes.
  std::vector<Part> parts_;
  std::vector<int> options_;
};

SearchEnd ValleySearch::search(const Part& whole) {
  open_.clear();
  parts_.clear();
  options_.clear();
  Ended ended = enter_division(whole);
  while (!open_.empty()) ended = go_on(ended);
  return *ended;
}

// Goes down after a change of the skyline that was possible or not.
ValleySearch::Ended ValleySearch::follow(const Part& part, bool was_possible, bool has_new_cut) {
  if (!was_possible) {
    --dead_ends_left_;
    return SearchEnd::kDoesNotFit;
  }
  return part.closed || has_new_cut ? enter_division(part) : enter_branch(part);
}

ValleySearch::Ended ValleySearch::enter_division(const Part& part) {
  const std::size_t first = parts_.size();
  push_parts(part);
  open_.push_back({.is_division = true, .first = first, .next = first, .last = parts_.size()});
  return {};
}

ValleySearch::Ended ValleySearch::enter_branch(const Part& part) {
  if (gives_up()) return SearchEnd::kOutOfBudget;
  const Valley valley = choose_valley(part);
  const std::size_t first = options_.size();
  push_options(valley.section);
  open_.push_back({.part = part,
                   .valley = valley,
                   .floor = skyline_.floor(valley.section),
                   .first = first,
                   .next = first,
                   .last = options_.size()});
  return {};
}

// Goes on in the innermost open node; `below` is how the node that was opened there ended, if one was.
ValleySearch::Ended ValleySearch::go_on(Ended below) {
  return open_.back().is_division ? try_next_part(below) : try_next_option(below);
}

ValleySearch::Ended ValleySearch::try_next_part(Ended below) {
  Node& node = open_.back();
  const bool failed = below && *below != SearchEnd::kFits;
  if (!failed && node.next < node.last) return enter_branch(Part(parts_[node.next++]));
  parts_.resize(node.first);
  open_.pop_back();
  return failed ? *below : SearchEnd::kFits;
}

ValleySearch::Ended ValleySearch::try_next_option(Ended below) {
  const Part part = open_.back().part;
  const Valley valley = open_.back().valley;
  bool is_open = true;
  while (true) {
    Node& node = open_.back();
    if (below == SearchEnd::kDoesNotFit) {
      skyline_.undo_to(node.mark);
      is_open = exclude(options_[node.next - 1], valley);
    }
    if (!is_open || node.next == node.last || (below && *below != SearchEnd::kDoesNotFit)) break;
    node.mark = skyline_.mark();
    const bool is_possible = skyline_.place(options_[node.next++]);
    below = follow(part, is_possible, skyline_.has_new_cut());
    if (!below) return {};
  }
  const Units floor = open_.back().floor;
  options_.resize(open_.back().first);
  open_.pop_back();
  if (below && *below != SearchEnd::kDoesNotFit) return below;
  return is_open ? leave_floor(part, valley, floor) : SearchEnd::kDoesNotFit;
}

// Goes on where no item of the valley's section lies on the floor it had.
ValleySearch::Ended ValleySearch::leave_floor(const Part& part, const Valley& valley, Units floor) {
  if (skyline_.floor(valley.section) > floor) return follow(part, true, false);
  if (skyline_.slack(valley.section) == 0) return SearchEnd::kDoesNotFit;
  const Units level = next_level(valley);
  if (level == kNever) return SearchEnd::kDoesNotFit;
  return follow(part, skyline_.raise(valley.section, level), false);
}

// Draws the conclusion from a proof that the item does not lie on the valley's floor. If it fills the
// valley's width, then it lies above the wall: anywhere below, it could change places with all that lies
// under it.
bool ValleySearch::exclude(int item, const Valley& valley) {
  if (items_[item].count != valley.last - valley.first) return true;
  return valley.wall != kNever && skyline_.lift(item, valley.wall);
}

// Cuts the part where no unplaced item crosses; leaves out sections that are done; the tightest first.
void ValleySearch::push_parts(const Part& part) {
  const std::size_t first = parts_.size();
  int start = part.first;
  if (part.count == skyline_.sections()) {
    const int stop = start + part.count;
    while (start < stop && skyline_.crossing(on_ring(start)) > 0) ++start;
    if (start == stop) {  // no cut: start where two runs of floors meet
      while (--start > part.first && skyline_.floor(on_ring(start)) == skyline_.floor(on_ring(start - 1))) {
      }
      parts_.push_back({.first = on_ring(start), .count = part.count, .slack = 0, .closed = true});
      return;
    }
    start = on_ring(start);
  }
  bool open = false;
  for (int k = start; k < start + part.count; ++k) {
    const int s = on_ring(k);
    if (!open || k == start || skyline_.crossing(s) == 0) {
      open = !skyline_.unplaced(s).empty();
      if (!open) continue;
      parts_.push_back({.first = s});
    }
    ++parts_.back().count;
    parts_.back().slack = std::min(parts_.back().slack, skyline_.slack(s));
  }
  if (parts_.size() - first > 1) {
    std::stable_sort(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.end(),
                     [](const Part& a, const Part& b) { return a.slack < b.slack; });
  }
}

void ValleySearch::push_options(int section) {
  const std::size_t first = options_.size();
  const Units floor = skyline_.floor(section);
  for (const int i : skyline_.unplaced(section)) {
    if (skyline_.lowest(i) != floor) continue;
    if (earlier_twin_[i] >= 0 && !skyline_.is_placed(earlier_twin_[i])) continue;
    options_.push_back(i);
  }
  std::sort(options_.begin() + static_cast<std::ptrdiff_t>(first), options_.end(),
            [&](int a, int b) { return order_.rank(a) < order_.rank(b); });
}

// The section with the fewest options in any valley of the part; of those, the one with the least slack.
Valley ValleySearch::choose_valley(const Part& part) const {
  Valley best;
  int best_options = std::numeric_limits<int>::max();
  Units best_slack = kNever;
  const int stop = part.first + part.count;
  Units left = part.closed ? skyline_.floor(on_ring(stop - 1)) : kNever;
  const Units behind = part.closed ? skyline_.floor(part.first) : kNever;
  for (int first = part.first; first < stop;) {
    const Units level = skyline_.floor(on_ring(first));
    int last = first + 1;
    while (last < stop && skyline_.floor(on_ring(last)) == level) ++last;
    const Units right = last < stop ? skyline_.floor(on_ring(last)) : behind;
    const bool is_valley = (level < left && level < right) || last - first == skyline_.sections();
    for (int k = first; k < last && is_valley; ++k) {
      const int s = on_ring(k);
      const Units slack = skyline_.slack(s);
      const int options = skyline_.candidates(s) + (slack > 0 ? 1 : 0);
      if (options < best_options || (options == best_options && slack < best_slack)) {
        best = {.section = s, .first = first, .last = last, .wall = std::min(left, right)};
        best_options = options;
        best_slack = slack;
        if (options <= 1) return best;
      }
    }
    left = level;
    first = last;
  }
  return best;
}

// If no item lies on the valley's floor in its section, the lowest one there lies on the top of an item of
// the valley that is not alive in that section, or beside the valley.
Units ValleySearch::next_level(const Valley& valley) const {
  Units level = kNever;
  const Units floor = skyline_.floor(valley.section);
  for (const int i : skyline_.unplaced(valley.section)) {
    if (skyline_.lowest(i) > floor) level = std::min(level, skyline_.lowest(i));
  }
  for (int k = valley.first; k < valley.last; ++k) {
    for (const int i : skyline_.unplaced(on_ring(k))) {
      int position = valley.section - items_[i].first;
      if (position < 0) position += skyline_.sections();
      if (position < items_[i].count) continue;
      level = std::min(level, skyline_.lowest(i) + items_[i].size);
    }
  }
  return level;
}

void ValleySearch::find_twins() {
  std::vector<int> order(items_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shape = [&](int i) { return std::tuple(items_[i].first, items_[i].count, items_[i].size); };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return shape(a) < shape(b); });
  earlier_twin_.assign(items_.size(), -1);
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (shape(order[k - 1]) == shape(order[k])) earlier_twin_[order[k]] = order[k - 1];
  }
}

}  // namespace

SearchResult search_valleys(const Instance& instance, Units ceiling, std::uint64_t seed,
                            SearchBudget& budget) {
  return ValleySearch(instance, ceiling, seed, budget).run();
}

}  // namespace ebb::layout
