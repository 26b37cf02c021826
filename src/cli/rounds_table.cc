#include "cli/rounds_table.h"

#include <fmt/format.h>

#include "cli/table.h"

namespace ebb::cli {
namespace {

constexpr std::size_t kLines = 10;

std::string overhead(double time, Nanoseconds plain) {
  return time > 0 ? percent(share(time, static_cast<double>(plain)) - 1) : "-";
}

}  // namespace

std::string rounds_table(std::span<const SearchRound> rounds, Nanoseconds plain) {
  if (rounds.empty()) return "";
  Table table;
  table.column("rounds", Align::left);
  for (const char* header : {"no plan", "mean overhead", "best so far"}) table.column(header);
  const std::size_t lines = std::min(kLines, rounds.size());
  for (std::size_t line = 0; line < lines; ++line) {
    const std::size_t begin = rounds.size() * line / lines, end = rounds.size() * (line + 1) / lines;
    double sum = 0;
    std::size_t with_plan = 0;
    for (const SearchRound& round : rounds.subspan(begin, end - begin)) {
      sum += static_cast<double>(round.mean);
      with_plan += round.mean > 0 ? 1 : 0;
    }
    const double mean = with_plan > 0 ? sum / static_cast<double>(with_plan) : 0;
    table.row({begin + 1 == end ? fmt::format("{}", end) : fmt::format("{}-{}", begin + 1, end),
               fmt::format("{}", end - begin - with_plan), overhead(mean, plain),
               overhead(static_cast<double>(rounds[end - 1].best), plain)});
  }
  return table.text();
}

}  // namespace ebb::cli
