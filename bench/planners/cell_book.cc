#include "cell_book.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ebb::cells {

using Json = nlohmann::ordered_json;

Book::Book(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;  // cut off when a run was stopped: measured again
    Entry entry{.ratio = std::nullopt, .cpu_seconds = json.at("cpu_s"), .moments = {}};
    if (!json.at("ratio").is_null()) entry.ratio = json.at("ratio").get<double>();
    for (const Json& moment : json.value("moments", Json::array()))
      entry.moments.push_back({moment.at(0), moment.at(1)});
    cells_[{json.at("step"), json.at("machine"), json.at("percent")}][json.at("planner")] = entry;
  }
}

const Entry* Book::find(const Cell& cell, const std::string& planner) const {
  const auto entries = cells_.find(cell);
  if (entries == cells_.end()) return nullptr;
  const auto entry = entries->second.find(planner);
  return entry == entries->second.end() ? nullptr : &entry->second;
}

void Book::add(const Cell& cell, const std::string& planner, const Entry& entry) {
  cells_[cell][planner] = entry;
  Json json = {{"step", cell.step},
               {"machine", cell.machine},
               {"percent", cell.percent},
               {"planner", planner},
               {"ratio", entry.ratio ? Json(*entry.ratio) : Json(nullptr)},
               {"cpu_s", entry.cpu_seconds}};
  for (const Moment& moment : entry.moments)
    json["moments"].push_back(Json::array({moment.cpu_seconds, moment.ratio}));
  std::ofstream file(path_, std::ios::app);
  file << json.dump() << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path_);
}

}  // namespace ebb::cells
