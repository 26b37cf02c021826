#include "cli/lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/error.h"

namespace ebb::cli {

std::vector<std::string> split(const std::string& list, std::string_view option) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin) throw InputError(fmt::format("{} {}: an entry of the list is empty", option, list));
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<const Planner*> choose_planners(const std::string& list) {
  std::vector<const Planner*> chosen;
  if (list == "all")
    for (const Planner& planner : planners()) chosen.push_back(&planner);
  else
    for (const std::string& name : split(list, "--planners")) chosen.push_back(&find_planner(name));
  return chosen;
}

}  // namespace ebb::cli
