#include "layout/sections.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ebb::layout {
namespace {

// The moments at which something begins or ends, and which of the spans between them are sections.
class Timeline {
 public:
  explicit Timeline(const Problem& problem) : period_(problem.period) {
    for (const Buffer& buffer : problem.buffers) {
      if (lives_always(buffer)) continue;
      times_.push_back(buffer.begin);
      times_.push_back(on_ring(buffer.end));
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    mark_sections(problem);
  }

  int sections() const { return std::max(1, sections_before_.empty() ? 1 : sections_before_.back()); }

  // The item without size and source.
  Item place(const Buffer& buffer) const {
    if (lives_always(buffer)) return {.first = 0, .count = sections()};
    const int first = sections_before_[span_at(buffer.begin)];
    int last = sections_before_[span_at(on_ring(buffer.end))];
    if (wraps(buffer)) last += sections();
    return {.first = first == sections() ? 0 : first, .count = last - first};
  }

 private:
  bool lives_always(const Buffer& buffer) const { return period_ && buffer.end - buffer.begin == *period_; }
  bool wraps(const Buffer& buffer) const { return period_ && buffer.end >= *period_; }
  Time on_ring(Time time) const { return period_ && time >= *period_ ? time - *period_ : time; }

  std::size_t span_at(Time time) const {
    return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
  }

  // Span k lies between times k and k + 1. It is a section if something begins at its left and something ends
  // at its right; any other span holds no more than a neighbour does.
  void mark_sections(const Problem& problem) {
    const std::size_t spans = times_.size();
    std::vector<char> begins(spans, 0), ends(spans, 0);
    for (const Buffer& buffer : problem.buffers) {
      if (lives_always(buffer)) continue;
      begins[span_at(buffer.begin)] = 1;
      ends[span_at(on_ring(buffer.end))] = 1;
    }
    sections_before_.assign(spans + 1, 0);
    for (std::size_t k = 0; k < spans; ++k) {
      const bool is_section = begins[k] != 0 && ends[k + 1 == spans ? 0 : k + 1] != 0;
      sections_before_[k + 1] = sections_before_[k] + (is_section ? 1 : 0);
    }
  }

  std::optional<Time> period_;
  std::vector<Time> times_;
  std::vector<int> sections_before_;  // sections_before_[k]: how many of spans 0 … k - 1 are sections
};

}  // namespace

Bytes unit_of(const Problem& problem, Bytes alignment) {
  Bytes unit = 0;
  for (const Buffer& buffer : problem.buffers) {
    unit = std::gcd(unit, std::gcd(round_up(buffer.size, alignment), buffer.fixed.value_or(0)));
  }
  return unit == 0 ? alignment : unit;
}

Instance cut_into_sections(const Problem& problem, Bytes alignment, Bytes unit) {
  const Timeline timeline(problem);
  Instance instance;
  instance.sections = timeline.sections();
  instance.base.assign(static_cast<std::size_t>(instance.sections), 0);
  instance.items.reserve(problem.buffers.size());
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    Item item = timeline.place(problem.buffers[i]);
    item.size = round_up(problem.buffers[i].size, alignment) / unit;
    item.source = static_cast<int>(i);
    instance.items.push_back(item);
  }
  return instance;
}

bool has_level_base(const Instance& instance) {
  return std::adjacent_find(instance.base.begin(), instance.base.end(), std::not_equal_to<>()) ==
         instance.base.end();
}

std::vector<Units> load_of(const Instance& instance) {
  std::vector<Units> change(static_cast<std::size_t>(instance.sections) + 1, 0);
  for (const Item& item : instance.items) {
    for_ranges(item, instance.sections, [&](int first, int last) {
      change[static_cast<std::size_t>(first)] += item.size;
      change[static_cast<std::size_t>(last)] -= item.size;
    });
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  for (std::size_t s = 0; s < change.size(); ++s) change[s] += instance.base[s];
  return change;
}

}  // namespace ebb::layout
