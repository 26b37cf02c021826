// Timelines, and what was measured, as columns of JSON: in the page's data and in the files that ebb.report()
// writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plan/gaps.h"
#include "report/step_view.h"

namespace ebb::report {

using Json = nlohmann::ordered_json;

// A table's column as an array.
template <typename Rows, typename Of>
Json column(const Rows& rows, Of of) {
  Json values = Json::array();
  for (const auto& row : rows) values.push_back(of(row));
  return values;
}

Json encode_timeline(const Timeline& timeline);
Json encode_measured(const MeasuredStep& measured);

// Throws InputError that begins with `place` and names what is missing, of another type or out of range.
MeasuredStep decode_measured(const nlohmann::json& json, const std::string& place, const Program& program,
                             const Gaps& gaps);

}  // namespace ebb::report
