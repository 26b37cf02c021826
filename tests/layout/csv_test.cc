#include "layout/csv.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trace/error.h"
#include "trace/gzip.h"

namespace ebb::layout {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_csv(text, "f.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const Problem kTwo{
    .buffers = {{.id = 1, .begin = 0, .end = 4, .size = 100}, {.id = 2, .begin = 3, .end = 6, .size = 200}}};

TEST(Csv, ReadsTheCommonColumns) {
  EXPECT_EQ(parse_csv("id,lower,upper,size\n1,0,4,100\n2,3,6,200\n", "f.csv").problem, kTwo);
}

TEST(Csv, ReadsColumnsInAnyOrderAndSkipsOthers) {
  EXPECT_EQ(parse_csv("size,name,upper,lower,id\n100,x,4,0,1\n200,y,6,3,2\n", "f.csv").problem, kTwo);
}

TEST(Csv, NeedsNoHeaderAndMindsNoBlanksOrCarriageReturns) {
  EXPECT_EQ(parse_csv("1, 0, 4, 100\r\n\r\n2,3,6,200", "f.csv").problem, kTwo);
}

TEST(Csv, ReadsOffsetsWhereThereAreSome) {
  EXPECT_EQ(parse_csv("id,lower,upper,size,offset\n1,0,4,100,512\n", "f.csv").offsets,
            (std::vector<Bytes>{512}));
}

TEST(Csv, WritesWhatItReads) {
  const Layout layout{.fits = true, .offsets = {0, 512}, .footprint = 1024};
  const CsvProblem back = parse_csv(format_csv(kTwo, layout), "f.csv");
  EXPECT_EQ(back.problem, kTwo);
  EXPECT_EQ(back.offsets, layout.offsets);
}

TEST(Csv, WritesTheArenaWhereThereAreSeveral) {
  const Layout layout{.fits = true, .offsets = {0, 512}, .arenas = {1, 0}};
  EXPECT_EQ(format_csv(kTwo, layout), "id,lower,upper,size,offset,arena\n1,0,4,100,0,1\n2,3,6,200,512,0\n");
}

TEST(Csv, AFileWithoutBuffersIsAnError) {
  EXPECT_EQ(error_of(""), "f.csv: no buffers");
  EXPECT_EQ(error_of("id,lower,upper,size\n"), "f.csv: no buffers");
}

TEST(Csv, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("id,lower,upper,size\n1,0,4,100\n2,3,x,200\n"),
            "f.csv:3: upper is 'x', not a 64-bit number");
  EXPECT_EQ(error_of("1,0,4,0\n"), "f.csv:1: size 0 is not positive");
  EXPECT_EQ(error_of("1,4,4,1\n"), "f.csv:1: lifetime [4, 4) is empty or inverted");
  EXPECT_EQ(error_of("1,0,4\n"), "f.csv:1: no value for size");
  EXPECT_EQ(error_of("1,0,4,5\n\n1,0,4,5\n"), "f.csv:3: id 1 occurs in line 1 already");
  EXPECT_EQ(error_of("1,0,4,99999999999999999999\n"),
            "f.csv:1: size is '99999999999999999999', not a 64-bit number");
}

TEST(Csv, AHeaderMustNameEachColumnOnce) {
  EXPECT_EQ(error_of("id,lower,size\n"), "f.csv:1: the header has no column upper");
  EXPECT_EQ(error_of("id,lower,upper,size,id\n"), "f.csv:1: column id occurs twice");
}

TEST(Csv, ReadsPlainAndGzippedFiles) {
  const std::string text = "id,lower,upper,size\n1,0,4,100\n2,3,6,200\n";
  const std::string plain = testing::TempDir() + "ebb_csv_test.csv", packed = plain + ".gz";
  std::ofstream(plain) << text;
  std::ofstream(packed, std::ios::binary) << gzip(text);
  EXPECT_EQ(read_csv(plain).problem, kTwo);
  EXPECT_EQ(read_csv(packed).problem, kTwo);
}

TEST(Csv, AGzippedFileThatIsCutOffIsAnError) {
  const std::string whole = gzip("id,lower,upper,size\n1,0,4,100\n2,3,6,200\n");
  const std::string cut = testing::TempDir() + "ebb_csv_test_cut.csv.gz";
  std::ofstream(cut, std::ios::binary) << whole.substr(0, whole.size() - 8);
  EXPECT_THROW(read_csv(cut), InputError);
}

TEST(Csv, AFileThatCannotBeOpenedIsASystemError) {
  EXPECT_THROW(read_csv("/nowhere/at/all.csv"), SystemError);
}

}  // namespace
}  // namespace ebb::layout
