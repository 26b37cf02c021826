#include "layout/csv.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "trace/error.h"
#include "trace/gzip.h"

namespace ebb::layout {
namespace {

enum Column : std::size_t { kId, kLower, kUpper, kSize, kOffset, kColumns };
constexpr std::array<std::string_view, kColumns> kNames{"id", "lower", "upper", "size", "offset"};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  explicit Parser(const std::string& name) : name_(name) {}

  void line(std::string_view text) {
    ++line_;
    text = trim(text);
    if (text.empty()) return;
    const std::vector<std::string_view> fields = split(text);
    if (!has_columns_) {
      has_columns_ = true;
      position_ = {0, 1, 2, 3, {}};
      if (!to_number(fields.front())) {
        read_header(fields);
        return;
      }
    }
    read_buffer(fields);
  }

  CsvProblem finish() {
    if (result_.problem.buffers.empty()) throw InputError(fmt::format("{}: no buffers", name_));
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  void read_header(const std::vector<std::string_view>& fields) {
    position_ = {};
    for (std::size_t k = 0; k < fields.size(); ++k) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        if (fields[k] != kNames[column]) continue;
        if (position_[column]) fail(fmt::format("column {} occurs twice", fields[k]));
        position_[column] = k;
      }
    }
    for (const Column column : {kId, kLower, kUpper, kSize}) {
      if (!position_[column]) fail(fmt::format("the header has no column {}", kNames[column]));
    }
  }

  std::int64_t number(const std::vector<std::string_view>& fields, Column column) const {
    const std::size_t k = *position_[column];
    if (k >= fields.size()) fail(fmt::format("no value for {}", kNames[column]));
    const std::optional<std::int64_t> value = to_number(fields[k]);
    if (!value) fail(fmt::format("{} is '{}', not a 64-bit number", kNames[column], fields[k]));
    return *value;
  }

  void read_buffer(const std::vector<std::string_view>& fields) {
    const Buffer buffer{.id = number(fields, kId),
                        .begin = number(fields, kLower),
                        .end = number(fields, kUpper),
                        .size = number(fields, kSize)};
    if (buffer.size < 1) fail(fmt::format("size {} is not positive", buffer.size));
    if (buffer.end <= buffer.begin) {
      fail(fmt::format("lifetime [{}, {}) is empty or inverted", buffer.begin, buffer.end));
    }
    const auto [known, is_new] = line_of_id_.emplace(buffer.id, line_);
    if (!is_new) fail(fmt::format("id {} occurs in line {} already", buffer.id, known->second));
    if (position_[kOffset]) result_.offsets.push_back(number(fields, kOffset));
    result_.problem.buffers.push_back(buffer);
  }

  const std::string& name_;
  int line_ = 0;
  bool has_columns_ = false;
  std::array<std::optional<std::size_t>, kColumns> position_;  // of each column in a line
  std::unordered_map<BufferId, int> line_of_id_;
  CsvProblem result_;
};

}  // namespace

CsvProblem parse_csv(std::string_view text, const std::string& name) {
  Parser parser(name);
  while (!text.empty()) {
    const auto end = text.find('\n');
    parser.line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parser.finish();
}

CsvProblem read_csv(const std::filesystem::path& path) {
  return parse_csv(read_maybe_gzipped(path.string()), path.string());
}

std::string format_csv(const Problem& problem, const Layout& layout) {
  const bool has_arenas = !layout.arenas.empty();
  std::string text = has_arenas ? "id,lower,upper,size,offset,arena\n" : "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", buffer.id, buffer.begin, buffer.end,
                   buffer.size, layout.offsets[i]);
    if (has_arenas) fmt::format_to(std::back_inserter(text), ",{}", layout.arenas[i]);
    text += '\n';
  }
  return text;
}

}  // namespace ebb::layout
