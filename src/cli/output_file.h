// Files a command writes at its end.
#pragma once

#include <string>
#include <vector>

namespace ebb::cli {

// Throws now, rather than after a long search, if nothing can be written at `path`, or if one of the inputs
// is there. Empty: no file is wanted.
void require_writable(const std::string& path, const std::vector<std::string>& inputs = {});

}  // namespace ebb::cli
