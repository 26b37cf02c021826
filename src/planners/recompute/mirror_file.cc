#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "planners/recompute/mirror.h"
#include "trace/error.h"

namespace ebb {
namespace {

constexpr int kMostCopies = 1000;

template <typename Number>
bool is_number(const std::string& word, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace

MirrorCounts parse_mirror_counts(std::string_view text, const std::string& file, const Program& program) {
  MirrorCounts counts(program.ops().size(), 0);
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string which, times, more;
    if (!(words >> which)) continue;
    auto fail = [&](const std::string& what) {
      throw InputError(fmt::format("{}: line {}: {}", file, number, what));
    };
    int count = 0;
    if (!(words >> times) || (words >> more)) fail("\"OP COUNT\" is expected");
    if (!is_number(times, count) || count < 0 || count > kMostCopies)
      fail(fmt::format("'{}' is not a count from 0 to {}", times, kMostCopies));
    OpIndex index = kNoOp;
    const bool by_index = is_number(which, index);
    if (by_index && (index < 0 || index >= program.op_count()))
      fail(fmt::format("op {} does not exist: there are {}", which, program.op_count()));
    bool found = false;
    for (OpIndex i = 0; i < program.op_count(); ++i) {
      if (by_index ? i != index : which != "*" && program.op(i).name != which) continue;
      counts[static_cast<std::size_t>(i)] = count;
      found = true;
    }
    if (!found) fail(fmt::format("no op is called '{}'", which));
  }
  return counts;
}

}  // namespace ebb
