// Folders are the architecture: a folder includes only folders that src/README.md lists above it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kSource = fs::path(EBB_SOURCE_DIR) / "src";

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The folders in the order of the table in src/README.md: rows that begin with "| `name/`".
std::vector<std::string> folder_order() {
  std::vector<std::string> order;
  const std::regex row(R"(^\| `([a-z]+)/`.*)");
  std::smatch match;
  for (const std::string& line : lines_of(kSource / "README.md"))
    if (std::regex_match(line, match, row)) order.push_back(match[1]);
  return order;
}

std::size_t rank_of(const std::vector<std::string>& order, const std::string& folder) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), folder) - order.begin());
}

TEST(IncludeOrder, EveryFolderIsListedInTheReadme) {
  const auto order = folder_order();
  ASSERT_GE(order.size(), 5u);
  for (const auto& entry : fs::directory_iterator(kSource)) {
    if (!entry.is_directory()) continue;
    EXPECT_LT(rank_of(order, entry.path().filename()), order.size())
        << entry.path() << " is not in src/README.md";
  }
}

TEST(IncludeOrder, AFolderIncludesOnlyItselfAndFoldersAboveIt) {
  const auto order = folder_order();
  const std::regex include(R"re(^\s*#include "([a-z]+)/.*)re");
  std::smatch match;
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    const std::string folder = *fs::relative(entry.path(), kSource).begin();
    for (const std::string& line : lines_of(entry.path())) {
      if (!std::regex_match(line, match, include)) continue;
      ++seen;
      EXPECT_LE(rank_of(order, match[1]), rank_of(order, folder)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(seen, 50);
}

TEST(IncludeOrder, TheCoreKnowsNoTorchNoCudaAndNoCommandLine) {
  const std::regex forbidden(R"(^\s*#include <(torch|ATen|c10|cuda|CLI)[/_.].*)");
  for (const char* folder : {"trace", "machine", "plan", "simulate", "layout", "planners", "report"})
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder))
      for (const std::string& line : lines_of(entry.path()))
        EXPECT_FALSE(std::regex_match(line, forbidden)) << entry.path() << ": " << line;
}

}  // namespace
