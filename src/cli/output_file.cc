#include "cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "trace/error.h"

namespace ebb::cli {

void require_writable(const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  if (::access(name.c_str(), W_OK | X_OK) != 0)
    throw SystemError(fmt::format("cannot write {}: {}: {}", path, name, std::strerror(errno)));
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw SystemError(fmt::format("cannot write {}: it is a folder", path));
}

}  // namespace ebb::cli
