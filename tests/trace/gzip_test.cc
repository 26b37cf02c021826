#include "trace/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "trace/expect_error.h"
#include "trace/files.h"

namespace ebb {
namespace {

std::string gzip(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

const std::string kText = [] {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919) + ",";
  return text;
}();

TEST(Gzip, GivesBackWhatWasPacked) {
  EXPECT_EQ(gunzip(gzip(kText), "f"), kText);
  EXPECT_EQ(gunzip(gzip(""), "f"), "");
}

TEST(Gzip, JoinsMembersInARow) { EXPECT_EQ(gunzip(gzip("one ") + gzip("two"), "f"), "one two"); }

TEST(Gzip, SaysWhereTruncatedDataEnds) {
  const std::string packed = gzip(kText);
  for (std::size_t size : {std::size_t{2}, std::size_t{9}, packed.size() / 2, packed.size() - 1})
    EXPECT_INPUT_ERROR(gunzip(packed.substr(0, size), "a.gz"), "a.gz", "truncated", std::to_string(size));
}

TEST(Gzip, SaysThatFlippedBitsAreCorrupt) {
  std::string packed = gzip(kText);
  packed[packed.size() - 6] ^= 1;  // its checksum
  EXPECT_INPUT_ERROR(gunzip(packed, "a.gz"), "a.gz", "corrupt");
  packed = gzip(kText);
  packed[2] = 0;  // its method
  EXPECT_INPUT_ERROR(gunzip(packed, "a.gz"), "a.gz", "corrupt");
}

TEST(Gzip, SaysThatBytesFollowTheEnd) {
  EXPECT_INPUT_ERROR(gunzip(gzip("x") + "tail", "a.gz"), "corrupt", "bytes follow its end");
}

TEST(Gzip, StopsABombAtTheCap) {
  const std::string bomb = gzip(std::string(50'000'000, 'x'));
  EXPECT_LT(bomb.size(), 100'000u);
  EXPECT_INPUT_ERROR(gunzip(bomb, "bomb.gz", 1'000'000), "bomb.gz", "more than 1000000 bytes");
}

TEST(Gzip, ReadsPackedAndPlainFiles) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("plain")) << kText;
  std::ofstream(folder.file("packed")) << gzip(kText);
  EXPECT_EQ(read_maybe_gzipped(folder.file("plain")), kText);
  EXPECT_EQ(read_maybe_gzipped(folder.file("packed")), kText);
  EXPECT_INPUT_ERROR(read_file(folder.file("plain"), 10), "plain", "larger than the 10 bytes");
}

TEST(Gzip, WhatIsPackedUnpacksToTheSame) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 100'003);
  for (const std::string& original : {std::string(), std::string("a"), text}) {
    EXPECT_TRUE(looks_gzipped(gzip(original)));
    EXPECT_EQ(gunzip(gzip(original), "f"), original);
  }
  EXPECT_LT(gzip(text).size(), text.size());
}

TEST(Gzip, NamesAFileThatIsNotThere) {
  EXPECT_SYSTEM_ERROR(read_file("/nowhere/at-all"), "/nowhere/at-all", "No such file");
  EXPECT_SYSTEM_ERROR(read_file("/"), "/", "cannot read");
}

}  // namespace
}  // namespace ebb
