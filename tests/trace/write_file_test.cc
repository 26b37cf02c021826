#include "trace/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

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
  EXPECT_SYSTEM_ERROR(write_file_atomically(folder.file("a"), "x"), "directory");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(WriteFile, FollowsLinksAndLeavesThem) {
  const testing::TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directory(folder.file("below"));
  write_file_atomically(folder.file("below/a"), "old");
  fs::create_symlink("below/a", folder.file("link"));
  fs::create_symlink("link", folder.file("second"));
  fs::create_symlink("below/b", folder.file("dangling"));
  write_file_atomically(folder.file("second"), "new");
  write_file_atomically(folder.file("dangling"), "made");
  EXPECT_EQ(read_file(folder.file("below/a")), "new");
  EXPECT_EQ(read_file(folder.file("below/b")), "made");
  EXPECT_TRUE(fs::is_symlink(folder.file("second")) && fs::is_symlink(folder.file("dangling")));
}

TEST(WriteFile, KeepsTheModeOfTheFile) {
  const testing::TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  std::filesystem::permissions(folder.file("a"), std::filesystem::perms(0640));
  write_file_atomically(folder.file("a"), "new");
  EXPECT_EQ(std::filesystem::status(folder.file("a")).permissions(), std::filesystem::perms(0640));
}

TEST(WriteFile, APipeIsWrittenInto) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const int reader = ::open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  require_writable_file(folder.file("pipe"));
  write_file_atomically(folder.file("pipe"), "through");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  ::close(reader);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(WriteFile, WhatADescriptorStandsForIsWrittenInto) {
  const testing::TemporaryFolder folder;
  const int file = ::open(folder.file("a").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::write(file, "before ", 7), 7);
  write_file_atomically("/proc/self/fd/" + std::to_string(file), "after");
  ::close(file);
  EXPECT_EQ(read_file(folder.file("a")), "before after");
}

}  // namespace
}  // namespace ebb
