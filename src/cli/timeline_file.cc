#include "cli/timeline_file.h"

#include <fmt/format.h>

#include <array>

#include "cli/json.h"
#include "cli/step_summary.h"

namespace ebb::cli {
namespace {

constexpr int kProcess = 1;
constexpr int kStallLane = 3;
constexpr std::array<std::string_view, 4> kLaneNames = {"compute", "copy out", "copy in", "waiting"};
constexpr std::array<std::string_view, kStallCauses> kStallNames = {
    "waits for the host", "waits for a copy-out", "waits for a copy-in", "waits for room"};

double microseconds(Nanoseconds time) { return static_cast<double>(time) / 1e3; }

Json event(std::string_view name, int lane, Nanoseconds start, Nanoseconds end, Json arguments) {
  return {{"name", name},
          {"ph", "X"},
          {"pid", kProcess},
          {"tid", lane},
          {"ts", microseconds(start)},
          {"dur", microseconds(end - start)},
          {"args", std::move(arguments)}};
}

Json metadata(std::string_view what, int lane, std::string_view name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", lane}, {"args", {{"name", name}}}};
}

Json span_event(const Span& span, const Program& program, const Gaps& gaps) {
  const int lane = static_cast<int>(span.lane);
  if (span.lane == Lane::compute) {
    const Op& op = program.op(span.op);
    return event(span.replay ? "replay " + op.name : op.name, lane, span.start, span.end,
                 {{"op", span.op}, {"phase", name_of(op.phase)}, {"replay", span.replay}});
  }
  const Gap& gap = gaps[span.gap];
  return event(fmt::format("block {}", gap.block), lane, span.start, span.end,
               {{"block", gap.block},
                {"bytes", program.block(gap.block).bytes},
                {"from", gap.from},
                {"to", gap.to},
                {"kind", name_of(gap.kind)}});
}

}  // namespace

std::string encode_timeline(const Timeline& timeline, const Program& program, const Gaps& gaps) {
  Json events = Json::array();
  events.push_back(metadata("process_name", 0, program.info().name));
  for (std::size_t lane = 0; lane < kLaneNames.size(); ++lane)
    events.push_back(metadata("thread_name", static_cast<int>(lane), kLaneNames[lane]));
  for (const Span& span : timeline.spans) events.push_back(span_event(span, program, gaps));
  for (const Stall& stall : timeline.stalls)
    events.push_back(event(kStallNames[static_cast<std::size_t>(stall.cause)], kStallLane, stall.start,
                           stall.end, {{"op", stall.op}}));
  for (const LoadPoint& point : timeline.load)
    events.push_back({{"name", "load"},
                      {"ph", "C"},
                      {"pid", kProcess},
                      {"ts", microseconds(point.time)},
                      {"args", {{"MiB", static_cast<double>(point.bytes) / static_cast<double>(kMiB)}}}});
  const Json root = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ebb::cli
