#include "layout/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ebb::layout {
namespace {

class Judge {
 public:
  Judge(const Problem& problem, const Layout& layout, const PackOptions& options)
      : problem_(problem), layout_(layout), options_(options) {}

  std::vector<Violation> run() {
    if (!has_all_offsets()) return std::move(violations_);
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) check_place(i);
    if (!violations_.empty()) return std::move(violations_);
    check_footprint();
    check_overlaps();
    return std::move(violations_);
  }

 private:
  bool has_arenas() const { return !options_.arenas.empty(); }
  int arena_of(std::size_t i) const { return has_arenas() ? layout_.arenas[i] : 0; }
  Bytes end_of(std::size_t i) const {
    return layout_.offsets[i] + round_up(problem_.buffers[i].size, options_.alignment);
  }

  void report(Rule rule, std::optional<BufferId> buffer, std::string message) {
    violations_.push_back({.rule = rule, .buffer = buffer, .other = {}, .message = std::move(message)});
  }

  bool has_all_offsets() {
    const std::size_t expected = problem_.buffers.size();
    if (!layout_.fits) {
      report(Rule::kMissing, {}, "the layout says that the problem does not fit");
    } else if (layout_.offsets.size() != expected) {
      report(Rule::kMissing, {}, fmt::format("{} offsets for {} buffers", layout_.offsets.size(), expected));
    } else if (has_arenas() && layout_.arenas.size() != expected) {
      report(Rule::kMissing, {}, fmt::format("{} arenas for {} buffers", layout_.arenas.size(), expected));
    }
    return violations_.empty();
  }

  void check_place(std::size_t i) {
    const Buffer& buffer = problem_.buffers[i];
    const Bytes offset = layout_.offsets[i];
    if (offset < 0) {
      report(Rule::kNegativeOffset, buffer.id,
             fmt::format("buffer {}: offset {} is negative", buffer.id, offset));
    } else if (offset % options_.alignment != 0) {
      report(
          Rule::kAlignment, buffer.id,
          fmt::format("buffer {}: offset {} is not a multiple of {}", buffer.id, offset, options_.alignment));
    }
    if (buffer.fixed && *buffer.fixed != offset) {
      report(Rule::kFixedOffset, buffer.id,
             fmt::format("buffer {}: offset {} instead of the fixed {}", buffer.id, offset, *buffer.fixed));
    }
    check_capacity(i);
  }

  void check_capacity(std::size_t i) {
    const BufferId id = problem_.buffers[i].id;
    std::optional<Bytes> capacity = options_.capacity;
    if (has_arenas()) {
      const int arena = arena_of(i);
      if (arena < 0 || arena >= static_cast<int>(options_.arenas.size())) {
        report(Rule::kArena, id, fmt::format("buffer {}: there is no arena {}", id, arena));
        return;
      }
      capacity = options_.arenas[arena];
    }
    if (capacity && end_of(i) > *capacity) {
      report(Rule::kCapacity, id,
             fmt::format("buffer {}: ends at {}, above the capacity of {}", id, end_of(i), *capacity));
    }
  }

  void check_footprint() {
    std::map<int, Bytes> heights;
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      Bytes& height = heights[arena_of(i)];
      height = std::max(height, end_of(i));
    }
    Bytes footprint = 0;
    for (const auto& [arena, height] : heights) footprint += height;
    if (footprint != layout_.footprint) {
      report(Rule::kFootprint, {},
             fmt::format("the footprint is {}, not {} as stated", footprint, layout_.footprint));
    }
  }

  // Sweeps over time with the live buffers ordered by address. As long as those do not overlap, a new one
  // overlaps one of its two neighbours or none.
  void check_overlaps() {
    struct Event {
      Time time;
      bool begins;
      std::size_t buffer;
    };
    std::vector<Event> events;
    const auto add = [&](Time begin, Time end, std::size_t i) {
      events.push_back({begin, true, i});
      events.push_back({end, false, i});
    };
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Buffer& buffer = problem_.buffers[i];
      if (problem_.period && buffer.end > *problem_.period) {
        add(buffer.begin, *problem_.period, i);
        add(0, buffer.end - *problem_.period, i);
      } else {
        add(buffer.begin, buffer.end, i);
      }
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.time, a.begins, a.buffer) < std::tuple(b.time, b.begins, b.buffer);
    });
    std::set<std::tuple<int, Bytes, std::size_t>> live;
    for (const Event& event : events) {
      const std::tuple key(arena_of(event.buffer), layout_.offsets[event.buffer], event.buffer);
      if (!event.begins) {
        live.erase(key);
        continue;
      }
      const auto above = live.lower_bound(key);
      const bool clear_above = above == live.end() || clear(event.buffer, std::get<2>(*above), event.time);
      const bool clear_below =
          above == live.begin() || clear(event.buffer, std::get<2>(*std::prev(above)), event.time);
      if (clear_above && clear_below) live.insert(key);
    }
  }

  bool clear(std::size_t a, std::size_t b, Time time) {
    if (arena_of(a) != arena_of(b)) return true;
    if (layout_.offsets[a] >= end_of(b) || layout_.offsets[b] >= end_of(a)) return true;
    const BufferId first = problem_.buffers[a].id, second = problem_.buffers[b].id;
    violations_.push_back(
        {.rule = Rule::kOverlap,
         .buffer = first,
         .other = second,
         .message = fmt::format("buffers {} and {} overlap at time {}: [{}, {}) and [{}, {})", first, second,
                                time, layout_.offsets[a], end_of(a), layout_.offsets[b], end_of(b))});
    return false;
  }

  const Problem& problem_;
  const Layout& layout_;
  const PackOptions& options_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> validate(const Problem& problem, const Layout& layout, const PackOptions& options) {
  return Judge(problem, layout, options).run();
}

}  // namespace ebb::layout
