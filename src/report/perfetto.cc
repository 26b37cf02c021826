#include "report/perfetto.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "report/names.h"

namespace ebb::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStallLane = 3;
constexpr std::array<std::string_view, 4> kLaneNames = {"compute", "copy out", "copy in", "waiting"};
constexpr std::array<std::string_view, kStallCauses> kStallNames = {
    "waits for the host", "waits for a copy-out", "waits for a copy-in", "waits for room"};

double microseconds(Nanoseconds time) { return static_cast<double>(time) / 1e3; }

// Adds the events of one track, which Perfetto shows as a process of its own.
class TrackWriter {
 public:
  TrackWriter(int process, const Program& program, const Gaps& gaps, Json& events)
      : process_(process), program_(program), gaps_(gaps), events_(events) {}

  void add(const Track& track) {
    add_metadata("process_name", 0, {{"name", fmt::format("{}: {}", program_.info().name, track.name)}});
    add_metadata("process_sort_index", 0, {{"sort_index", process_}});
    for (std::size_t lane = 0; lane < kLaneNames.size(); ++lane)
      add_metadata("thread_name", static_cast<int>(lane), {{"name", kLaneNames[lane]}});
    for (const Span& span : track.timeline.spans) add_span(span);
    for (const Stall& stall : track.timeline.stalls)
      add_event(kStallNames[static_cast<std::size_t>(stall.cause)], kStallLane, stall.start, stall.end,
                {{"op", stall.op}});
    for (const LoadPoint& point : track.timeline.load)
      events_.push_back({{"name", "load"},
                         {"ph", "C"},
                         {"pid", process_},
                         {"ts", microseconds(point.time)},
                         {"args", {{"MiB", static_cast<double>(point.bytes) / static_cast<double>(kMiB)}}}});
  }

 private:
  void add_metadata(std::string_view what, int lane, Json arguments) {
    events_.push_back(
        {{"name", what}, {"ph", "M"}, {"pid", process_}, {"tid", lane}, {"args", std::move(arguments)}});
  }

  void add_event(std::string_view name, int lane, Nanoseconds start, Nanoseconds end, Json arguments) {
    events_.push_back({{"name", name},
                       {"ph", "X"},
                       {"pid", process_},
                       {"tid", lane},
                       {"ts", microseconds(start)},
                       {"dur", microseconds(end - start)},
                       {"args", std::move(arguments)}});
  }

  void add_span(const Span& span) {
    const int lane = static_cast<int>(span.lane);
    if (span.lane == Lane::compute) {
      const Op& op = program_.op(span.op);
      add_event(span.replay ? "replay " + op.name : op.name, lane, span.start, span.end,
                {{"op", span.op}, {"phase", name_of(op.phase)}, {"replay", span.replay}});
      return;
    }
    if (span.gap < 0) {
      add_event("unplanned copy", lane, span.start, span.end, Json::object());
      return;
    }
    const Gap& gap = gaps_[span.gap];
    add_event(fmt::format("block {}", gap.block), lane, span.start, span.end,
              {{"block", gap.block},
               {"bytes", program_.block(gap.block).bytes},
               {"from", gap.from},
               {"to", gap.to},
               {"kind", name_of(gap.kind)}});
  }

  const int process_;
  const Program& program_;
  const Gaps& gaps_;
  Json& events_;
};

}  // namespace

std::string encode_perfetto(const std::vector<Track>& tracks, const Program& program, const Gaps& gaps) {
  Json events = Json::array();
  for (std::size_t i = 0; i < tracks.size(); ++i)
    TrackWriter(static_cast<int>(i) + 1, program, gaps, events).add(tracks[i]);
  const Json root = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ebb::report
