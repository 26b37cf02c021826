// Files a command writes at its end.
#pragma once

#include <string>

namespace ebb::cli {

// Throws SystemError now, rather than after a long search, if no file can be created at `path`. Empty: no
// file is wanted.
void require_writable(const std::string& path);

}  // namespace ebb::cli
