// Text ↔ quantities, for the command line and machine files. Every parser throws InputError with the text it
// was given and what it would have understood.
#pragma once

#include <string>
#include <string_view>

#include "trace/quantities.h"

namespace ebb {

// "8GiB", "512 MiB", "1.5GB", "4096": KiB … TiB are powers of 1024, kB … TB powers of 1000, no unit is bytes.
Bytes parse_bytes(std::string_view text);
// Bytes per second: the same with "/s", as in "12.2GB/s"; no unit is bytes per second.
Bytes parse_bandwidth(std::string_view text);
// "10us", "1.5 ms", "2s", "250ns"; no unit is nanoseconds.
Nanoseconds parse_duration(std::string_view text);
// A plain finite decimal number.
double parse_number(std::string_view text);

// For people: three or four significant digits and the largest fitting unit. "7.45 GiB", "55.4 GB/s", "117.3
// ms".
std::string format_bytes(Bytes bytes);
std::string format_bandwidth(Bytes bytes_per_second);
std::string format_time(Nanoseconds time);

}  // namespace ebb
