// Where the tests find their inputs and put their outputs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace ebb::testing {

inline std::string bundled(const std::string& name) { return std::string(EBB_SOURCE_DIR) + "/data/" + name; }

// Inputs that are not part of the project; a test that needs one skips, visibly, where they are absent.
inline std::string shared(const std::string& name) {
  return std::string(EBB_SOURCE_DIR) + "/../shared/data/" + name;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("ebb-") + test->test_suite_name() + "-" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t file_count() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace ebb::testing

#define SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here"
