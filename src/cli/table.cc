#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace ebb::cli {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }

std::string padding(std::string_view text, std::size_t columns) {
  return std::string(columns - std::min(columns, width(text)), ' ');
}

// The first `columns` code points end here.
std::size_t byte_of(std::string_view text, std::size_t column) {
  std::size_t i = 0;
  for (; i < text.size(); ++i)
    if (begins_character(text[i]) && column-- == 0) break;
  return i;
}

}  // namespace

void Table::column(std::string header, Align align) { columns_.emplace_back(std::move(header), align); }

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> headers;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    headers.push_back(columns_[c].first);
    widths.push_back(width(columns_[c].first));
    for (const auto& cells : rows_) widths[c] = std::max(widths[c], width(cells[c]));
  }
  std::string text;
  auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string gap = padding(cells[c], widths[c]);
      line += fmt::format("{}{}", c == 0 ? "" : "  ",
                          columns_[c].second == Align::left ? cells[c] + gap : gap + cells[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line(headers);
  for (const auto& cells : rows_) add_line(cells);
  return text;
}

void Facts::add(std::string name, std::string value) {
  facts_.emplace_back(std::move(name), std::move(value));
}

std::string Facts::text() const {
  std::size_t widest = 0;
  for (const auto& [name, value] : facts_) widest = std::max(widest, width(name));
  std::string text;
  for (const auto& [name, value] : facts_)
    text += fmt::format("{}{}  {}\n", name, padding(name, widest), value);
  return text;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::size_t all = width(text);
  if (all <= most) return std::string(text);
  const std::size_t tail = (most - 1) / 2;
  return fmt::format("{}…{}", text.substr(0, byte_of(text, most - 1 - tail)),
                     text.substr(byte_of(text, all - tail)));
}

std::string mib(Bytes bytes) {
  const double value = static_cast<double>(bytes) / static_cast<double>(kMiB);
  return fmt::format("{:.{}f}", value, value != 0 && value < 9.95 ? 1 : 0);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string factor(double ratio) { return fmt::format("{:.3f}", ratio); }

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

}  // namespace ebb::cli
