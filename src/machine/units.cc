#include "machine/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "trace/error.h"

namespace ebb {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr std::array<Unit, 10> kByteUnits = {{{"B", 1},
                                              {"kB", 1e3},
                                              {"KB", 1e3},
                                              {"MB", 1e6},
                                              {"GB", 1e9},
                                              {"TB", 1e12},
                                              {"KiB", 1024.0},
                                              {"MiB", 1024.0 * 1024},
                                              {"GiB", 1024.0 * 1024 * 1024},
                                              {"TiB", 1024.0 * 1024 * 1024 * 1024}}};
constexpr std::array<Unit, 5> kTimeUnits = {{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

constexpr double kLargest = 0x1p60;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The number in front and what follows it, trimmed.
struct Measured {
  double number = 0;
  std::string_view unit;
};

Measured split(std::string_view text, std::string_view what, std::string_view example) {
  const std::string_view body = trim(text);
  Measured result;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), result.number);
  if (error != std::errc{} || !std::isfinite(result.number))
    throw InputError(fmt::format("'{}' is not {} such as {}", text, what, example));
  if (result.number < 0) throw InputError(fmt::format("'{}' is negative: {} cannot be", text, what));
  result.unit = trim(body.substr(static_cast<std::size_t>(end - body.data())));
  return result;
}

std::int64_t scale(std::string_view text, const Measured& measured, std::span<const Unit> units,
                   std::string_view known) {
  double size = measured.unit.empty() ? 1 : 0;
  for (const Unit& unit : units)
    if (unit.name == measured.unit) size = unit.size;
  if (size == 0)
    throw InputError(fmt::format("unknown unit '{}' in '{}': use {}", measured.unit, text, known));
  const double value = measured.number * size;
  if (value > kLargest) throw InputError(fmt::format("'{}' is too large: at most 2^60", text));
  return std::llround(value);
}

std::string format(double value, std::span<const Unit> units, std::string_view suffix) {
  const Unit* chosen = &units.front();
  for (const Unit& unit : units)
    if (std::abs(value) >= unit.size) chosen = &unit;
  const double shown = value / chosen->size;
  const int digits = chosen->size == 1 ? 0 : std::abs(shown) < 10 ? 3 : std::abs(shown) < 100 ? 2 : 1;
  return fmt::format("{:.{}f} {}{}", shown, digits, chosen->name, suffix);
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
  return scale(text, split(text, "a size", "8GiB or 512MB"), kByteUnits,
               "B, KiB, MiB, GiB, TiB, kB, MB, GB or TB");
}

Bytes parse_bandwidth(std::string_view text) {
  constexpr std::string_view kKnown = "B/s, MB/s, GB/s, MiB/s or GiB/s";
  Measured measured = split(text, "a bandwidth", "12.2GB/s");
  if (measured.unit.ends_with("/s"))
    measured.unit.remove_suffix(2);
  else if (!measured.unit.empty())
    throw InputError(fmt::format("unknown unit '{}' in '{}': use {}", measured.unit, text, kKnown));
  return scale(text, measured, kByteUnits, kKnown);
}

Nanoseconds parse_duration(std::string_view text) {
  return scale(text, split(text, "a time", "10us or 1.5ms"), kTimeUnits, "ns, us, ms or s");
}

double parse_number(std::string_view text) {
  const Measured measured = split(text, "a number", "1.5");
  if (!measured.unit.empty()) throw InputError(fmt::format("'{}' is not a number such as 1.5", text));
  return measured.number;
}

std::string format_bytes(Bytes bytes) {
  constexpr std::array<Unit, 5> kShown = {kByteUnits[0], kByteUnits[6], kByteUnits[7], kByteUnits[8],
                                          kByteUnits[9]};
  return format(static_cast<double>(bytes), kShown, "");
}

std::string format_bandwidth(Bytes bytes_per_second) {
  constexpr std::array<Unit, 5> kShown = {kByteUnits[0], kByteUnits[1], kByteUnits[3], kByteUnits[4],
                                          kByteUnits[5]};
  return format(static_cast<double>(bytes_per_second), kShown, "/s");
}

std::string format_time(Nanoseconds time) {
  constexpr std::array<Unit, 4> kShown = {kTimeUnits[0], kTimeUnits[1], kTimeUnits[3], kTimeUnits[4]};
  return format(static_cast<double>(time), kShown, "");
}

}  // namespace ebb
