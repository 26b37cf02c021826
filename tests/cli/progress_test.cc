#include "cli/progress.h"

#include <gtest/gtest.h>

namespace ebb::cli {
namespace {

TEST(WaitingLine, SaysWhatIsWaitedForAndCleansUpAfterItself) {
  std::mutex mutex;
  std::condition_variable written;
  std::vector<std::string> lines;
  {
    const WaitingLine waiting("pack: 7 buffers", std::chrono::milliseconds(0), [&](std::string text) {
      const std::lock_guard lock(mutex);
      lines.push_back(std::move(text));
      written.notify_all();
    });
    std::unique_lock lock(mutex);
    written.wait(lock, [&] { return !lines.empty(); });
  }
  EXPECT_NE(lines.front().find("pack: 7 buffers"), std::string::npos);
  EXPECT_EQ(lines.back(), "\r\033[K");
}

TEST(WaitingLine, SaysNothingAboutWhatIsQuick) {
  std::vector<std::string> lines;
  {
    const WaitingLine waiting("nothing", std::chrono::hours(1),
                              [&](std::string text) { lines.push_back(std::move(text)); });
  }
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace ebb::cli
