// Replays every input the fuzzers ever tripped over, and some that they started from. A crash fails the test
// program.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/targets.h"
#include "trace/gzip.h"

namespace ebb {
namespace {

std::size_t replay(const std::string& target, void (*run)(std::string_view)) {
  const std::string folder = std::string(EBB_SOURCE_DIR) + "/tests/fuzz/corpus/" + target;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(run(read_file(entry.path().string())));
    ++count;
  }
  return count;
}

TEST(Corpus, StepTracesAreReadOrRefused) { EXPECT_GT(replay("step", fuzz::step), 0u); }
TEST(Corpus, GraphsAreReadOrRefused) { EXPECT_GT(replay("graph", fuzz::graph), 0u); }
TEST(Corpus, OwnTracesAreReadOrRefused) { EXPECT_GT(replay("trace", fuzz::trace), 0u); }

}  // namespace
}  // namespace ebb
