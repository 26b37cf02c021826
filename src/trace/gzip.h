// Whole files into memory, gzip'd or plain, with a cap so that a small bomb cannot fill the machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb {

inline constexpr std::size_t kLargestFile = std::size_t{2} << 30;

// The bytes of the file as they are on disk. Throws SystemError if it cannot be read, InputError if it is
// larger than `cap`.
std::string read_file(const std::string& path, std::size_t cap = kLargestFile);

// Does the text begin like a gzip file?
bool looks_gzipped(std::string_view bytes);

// Undoes gzip (several members in a row are one text). Throws InputError saying truncated, corrupt or too
// large, and after how many bytes. `file` is only for the message.
std::string gunzip(std::string_view bytes, const std::string& file, std::size_t cap = kLargestFile);

// The text as a gzip file of one member.
std::string gzip(std::string_view text);

// read_file, and gunzip if it looks gzip'd.
std::string read_maybe_gzipped(const std::string& path, std::size_t cap = kLargestFile);

}  // namespace ebb
