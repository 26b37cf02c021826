#include "report/timed_residencies.h"

#include <algorithm>
#include <unordered_map>

namespace ebb::report {
namespace {

// When the commands of a schedule take memory and when they give it back.
class CommandTimes {
 public:
  CommandTimes(const Schedule& schedule, const Timeline& timeline, Nanoseconds step_time)
      : step_time_(step_time) {
    std::unordered_map<GapId, const Span*> outs, ins;
    for (const Span& span : timeline.spans) {
      if (span.lane == Lane::compute)
        items_.push_back(&span);
      else
        (span.lane == Lane::out ? outs : ins).emplace(span.gap, &span);
    }
    std::size_t item = 0;
    for (const Command& command : schedule.commands) {
      switch (command.kind) {
        case CommandKind::run:
        case CommandKind::replay:
          add(items_.at(item)->start, items_.at(item)->end);
          ++item;
          break;
        case CommandKind::start_out:
        case CommandKind::start_in: {
          const Span& span = *(command.kind == CommandKind::start_in ? ins : outs).at(command.gap);
          add(span.start, span.end);
          break;
        }
        case CommandKind::release:
          add(0, released(outs.at(command.gap)->end, command.ended));
          break;
        case CommandKind::drop:
          add(0, end_of_item(command.ended));
          break;
      }
    }
  }

  Nanoseconds taken(layout::Time command) const { return begins_[static_cast<std::size_t>(command)]; }
  Nanoseconds given_back(std::int32_t command) const { return ends_[static_cast<std::size_t>(command)]; }

 private:
  void add(Nanoseconds begin, Nanoseconds end) {
    begins_.push_back(begin);
    ends_.push_back(end);
  }

  Nanoseconds end_of_item(std::int32_t ended) const {
    return ended <= 0 ? 0 : items_.at(static_cast<std::size_t>(ended) - 1)->end;
  }

  // The copy ends while the item after the `ended` ones waits or runs; or it had ended before, and the last
  // reader was waited for. The end of a copy that runs over the boundary is what it would be if it had the
  // link alone.
  Nanoseconds released(Nanoseconds copied, std::int32_t ended) const {
    const Nanoseconds earliest = end_of_item(ended);
    const bool last = static_cast<std::size_t>(ended) >= items_.size();
    const Nanoseconds latest = last ? step_time_ : end_of_item(ended + 1);
    const bool estimated = copied > step_time_;
    if (estimated) copied -= step_time_;
    if (copied > latest && !estimated) copied -= step_time_;
    return std::clamp(copied, earliest, latest);
  }

  const Nanoseconds step_time_;
  std::vector<const Span*> items_;
  std::vector<Nanoseconds> begins_, ends_;
};

}  // namespace

std::vector<TimedResidency> timed_residencies(const layout::ArenaProblem& arena, const layout::Layout& layout,
                                              const Schedule& schedule, const Timeline& timeline,
                                              Nanoseconds step_time) {
  const CommandTimes times(schedule, timeline, step_time);
  std::vector<TimedResidency> timed;
  for (std::size_t i = 0; i < arena.residencies.size(); ++i) {
    const layout::Buffer& buffer = arena.problem.buffers[i];
    TimedResidency entry{.residency = arena.residencies[i],
                         .bytes = buffer.size,
                         .offset = layout.offsets.empty() ? 0 : layout.offsets[i]};
    if (entry.residency.freed_by < 0) {
      entry.end = step_time;
    } else {
      entry.begin = times.taken(buffer.begin);
      entry.end = times.given_back(entry.residency.freed_by) +
                  (entry.residency.freed_by < buffer.begin ? step_time : 0);
      entry.end = std::clamp(entry.end, entry.begin, entry.begin + step_time);
    }
    timed.push_back(entry);
  }
  return timed;
}

}  // namespace ebb::report
