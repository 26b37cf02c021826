// Packing problems as the common CSV `id,lower,upper,size` (lifetimes half-open), plain or gzip'd.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "layout/packing.h"

namespace ebb::layout {

// A file's contents: `offsets` are those of an optional column `offset`, one per buffer, else empty.
struct CsvProblem {
  Problem problem;
  std::vector<Bytes> offsets = {};
};

// A header names the columns, in any order; without one they are id, lower, upper, size. Throws InputError
// with name and line for what is no number, is missing, or breaks a rule of check(); and for a file without
// buffers.
CsvProblem parse_csv(std::string_view text, const std::string& name);

// Throws SystemError if the file cannot be read, InputError if it is cut off or corrupt gzip.
CsvProblem read_csv(const std::filesystem::path& path);

// The problem with its offsets (and the arena of each buffer where there are several).
// REQUIRES: the layout fits and has an offset per buffer.
std::string format_csv(const Problem& problem, const Layout& layout);

}  // namespace ebb::layout
