#include "cli/output_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "trace/error.h"
#include "trace/write_file.h"

namespace ebb::cli {

void require_writable(const std::string& path, const std::vector<std::string>& inputs) {
  if (path.empty()) return;
  if (path == "-")
    throw InputError("cannot write -: /dev/stdout is standard output, ./- a file of that name");
  require_writable_file(path);
  for (const std::string& input : inputs) {
    std::error_code none;
    if (std::filesystem::equivalent(path, input, none) && std::filesystem::is_regular_file(path, none))
      throw InputError(fmt::format("cannot write {}: that is {}, which is read, too", path, input));
  }
}

}  // namespace ebb::cli
