// Lists on a benchmark's command line: "75,60,45".
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace ebb {

inline std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace ebb
