#include "trace/write_file.h"

#include <gtest/gtest.h>

#include "trace/expect_error.h"
#include "trace/files.h"
#include "trace/gzip.h"

namespace ebb {
namespace {

TEST(WriteFile, ReplacesTheFileAndLeavesNothingBeside) {
  const testing::TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  write_file_atomically(folder.file("a"), "new");
  EXPECT_EQ(read_file(folder.file("a")), "new");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(WriteFile, NamesAFolderThatIsNotThere) {
  EXPECT_SYSTEM_ERROR(write_file_atomically("/nowhere/a", ""), "/nowhere/a", "cannot create");
}

TEST(WriteFile, LeavesNothingBehindIfTheTargetIsAFolder) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("a"));
  EXPECT_SYSTEM_ERROR(write_file_atomically(folder.file("a"), "x"), "cannot rename");
  EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace ebb
