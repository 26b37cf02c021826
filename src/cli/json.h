// JSON as the tool prints it: keys in the order they were written, sizes in bytes, times in nanoseconds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ebb::cli {

using Json = nlohmann::ordered_json;

// Names that are not UTF-8 are printed with replacement characters.
inline std::string print(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ebb::cli
