// Whole files are written beside their place and renamed into it: a reader sees the old file or the new one,
// never half. What is no regular file, a pipe or a device, is written into.
#pragma once

#include <string>
#include <string_view>

namespace ebb {

// Where the path is a link, the file it leads to is replaced, which keeps its mode. Throws SystemError naming
// the path and the reason; the old file, if any, is then untouched.
void write_file_atomically(const std::string& path, std::string_view contents);

// Throws SystemError now, rather than after a long search, if nothing can be written there.
void require_writable_file(const std::string& path);

}  // namespace ebb
