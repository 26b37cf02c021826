#include "report/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/error.h"

namespace ebb::report {
namespace {

Json encode_lane(const Timeline& timeline, Lane lane, bool of_gaps) {
  Json subject = Json::array(), start = Json::array(), end = Json::array(), replays = Json::array();
  for (const Span& span : timeline.spans) {
    if (span.lane != lane) continue;
    if (span.replay) replays.push_back(subject.size());
    subject.push_back(of_gaps ? span.gap : span.op);
    start.push_back(span.start);
    end.push_back(span.end);
  }
  Json json = {
      {of_gaps ? "gap" : "op", std::move(subject)}, {"start", std::move(start)}, {"end", std::move(end)}};
  if (!of_gaps) json["replays"] = std::move(replays);
  return json;
}

// Reads one table of equally long columns.
class TableReader {
 public:
  TableReader(const nlohmann::json& parent, const char* name, const std::string& place)
      : table_(parent.at(name)), place_(fmt::format("{}: {}", place, name)) {
    for (const auto& [key, values] : table_.items())
      if (key != "replays") rows_ = std::max(rows_, values.size());
  }

  std::size_t rows() const { return rows_; }
  // In [least, most).
  std::int64_t at(const char* name, std::size_t row, std::int64_t least, std::int64_t most) const {
    const auto& values = table_.at(name);
    const std::int64_t value = values.at(row).get<std::int64_t>();
    if (value < least || value >= most)
      throw InputError(fmt::format("{}: {} {} of row {} is out of range", place_, name, value, row));
    return value;
  }
  bool holds(const char* name, std::size_t row) const {
    const auto& values = table_.at(name);
    return std::find(values.begin(), values.end(), row) != values.end();
  }

 private:
  const nlohmann::json& table_;
  std::string place_;
  std::size_t rows_ = 0;
};

constexpr std::int64_t kLongest = 1'000'000'000'000'000;  // nanoseconds: eleven days

void read_lane(const TableReader& table, Lane lane, const Program& program, const Gaps& gaps,
               Timeline& timeline) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Span span{.lane = lane,
              .start = table.at("start", row, -kLongest, kLongest),
              .end = table.at("end", row, -kLongest, kLongest)};
    if (lane == Lane::compute) {
      span.op = static_cast<OpIndex>(table.at("op", row, 0, program.op_count()));
      span.replay = table.holds("replays", row);
    } else {
      span.gap = static_cast<GapId>(table.at("gap", row, -1, gaps.count()));
    }
    timeline.spans.push_back(span);
  }
}

Timeline read_timeline(const nlohmann::json& json, const std::string& place, const Program& program,
                       const Gaps& gaps) {
  Timeline timeline;
  read_lane({json, "compute", place}, Lane::compute, program, gaps, timeline);
  read_lane({json, "out", place}, Lane::out, program, gaps, timeline);
  read_lane({json, "in", place}, Lane::in, program, gaps, timeline);
  const TableReader stalls(json, "stalls", place);
  for (std::size_t row = 0; row < stalls.rows(); ++row)
    timeline.stalls.push_back({.cause = static_cast<StallCause>(stalls.at("cause", row, 0, kStallCauses)),
                               .op = static_cast<OpIndex>(stalls.at("op", row, 0, 2 * program.op_count())),
                               .start = stalls.at("start", row, -kLongest, kLongest),
                               .end = stalls.at("end", row, -kLongest, kLongest)});
  return timeline;
}

std::vector<IterationStatistics> read_iterations(const nlohmann::json& json, const std::string& place) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const TableReader table(json, "iterations", place);
  std::vector<IterationStatistics> list;
  for (std::size_t row = 0; row < table.rows(); ++row)
    list.push_back({.number = static_cast<std::int64_t>(row),
                    .mode = table.at("planned", row, 0, 2) == 1 ? Mode::planned : Mode::reactive,
                    .step_time = table.at("step", row, 0, kLongest),
                    .bytes_out = table.at("out", row, 0, kMost),
                    .bytes_in = table.at("in", row, 0, kMost),
                    .replays = table.at("replays", row, 0, kMost),
                    .peak_arena = table.at("peak", row, 0, kMost)});
  return list;
}

}  // namespace

Json encode_timeline(const Timeline& timeline) {
  const auto& stalls = timeline.stalls;
  return {{"compute", encode_lane(timeline, Lane::compute, false)},
          {"out", encode_lane(timeline, Lane::out, true)},
          {"in", encode_lane(timeline, Lane::in, true)},
          {"stalls",
           {{"cause", column(stalls, [](const Stall& stall) { return static_cast<int>(stall.cause); })},
            {"op", column(stalls, [](const Stall& stall) { return stall.op; })},
            {"start", column(stalls, [](const Stall& stall) { return stall.start; })},
            {"end", column(stalls, [](const Stall& stall) { return stall.end; })}}}};
}

Json encode_measured(const MeasuredStep& measured) {
  using Entry = IterationStatistics;
  const auto& list = measured.iterations;
  return {{"step", measured.step_time},
          {"timeline", encode_timeline(measured.timeline)},
          {"iterations",
           {{"planned", column(list, [](const Entry& entry) { return entry.mode == Mode::planned ? 1 : 0; })},
            {"step", column(list, [](const Entry& entry) { return entry.step_time; })},
            {"out", column(list, [](const Entry& entry) { return entry.bytes_out; })},
            {"in", column(list, [](const Entry& entry) { return entry.bytes_in; })},
            {"replays", column(list, [](const Entry& entry) { return entry.replays; })},
            {"peak", column(list, [](const Entry& entry) { return entry.peak_arena; })}}}};
}

MeasuredStep decode_measured(const nlohmann::json& json, const std::string& place, const Program& program,
                             const Gaps& gaps) try {
  return {.step_time = json.at("step").get<Nanoseconds>(),
          .timeline = read_timeline(json.at("timeline"), place, program, gaps),
          .iterations = read_iterations(json, place)};
} catch (const nlohmann::json::exception& error) {
  throw InputError(fmt::format("{}: {}", place, error.what()));
}

}  // namespace ebb::report
