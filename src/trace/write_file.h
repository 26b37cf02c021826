// Whole files are written beside their place and renamed into it: a reader sees the old file or the new one,
// never half.
#pragma once

#include <string>
#include <string_view>

namespace ebb {

// Throws SystemError naming the path and the reason; the old file, if any, is then untouched.
void write_file_atomically(const std::string& path, std::string_view contents);

}  // namespace ebb
