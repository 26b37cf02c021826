#include "trace/load.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trace/expect_error.h"
#include "trace/files.h"
#include "trace/gzip.h"
#include "trace/trace_file.h"
#include "trace/unroll.h"
#include "trace/write_file.h"

namespace ebb {
namespace {

TEST(Load, RecognisesEachFormatByContent) {
  const testing::TemporaryFolder folder;
  const Program step = load_program(testing::bundled("vgg16.json.gz"));
  EXPECT_EQ(step.op_count(), 185);

  write_file_atomically(folder.file("renamed"), read_file(testing::bundled("vgg16.json.gz")));
  EXPECT_EQ(load_program(folder.file("renamed")).op_count(), 185);
  write_file_atomically(folder.file("plain"), read_maybe_gzipped(testing::bundled("vgg16.json.gz")));
  EXPECT_EQ(load_program(folder.file("plain")).op_count(), 185);

  write_trace(folder.file("own"), unroll(step, 3));
  const Program own = load_program(folder.file("own"));
  EXPECT_EQ(own.op_count(), 185);
  EXPECT_EQ(own.peak_demand(), step.peak_demand());

  write_file_atomically(folder.file("graph"),
                        R"({"ops":[{"name":"a","ns":1,"in":[],"out":[0]}],"tensors":[{"bytes":4}]})");
  EXPECT_EQ(load_program(folder.file("graph")).peak_load(), 4);
}

TEST(Load, PassesItsOptionsOn) {
  const Program program =
      load_program(testing::bundled("vgg16.json.gz"), {.with_unmanaged = true, .smallest_managed = kMiB});
  EXPECT_GT(program.info().unmanaged, 0);
  EXPECT_EQ(program.info().smallest_managed, kMiB);
}

TEST(Load, TakesWhatACrashLeftIfTold) {
  const testing::TemporaryFolder folder;
  const std::string whole =
      encode_trace(unroll(load_program(testing::bundled("vgg16.json.gz")), 5), {.chunk_bytes = 1000});
  write_file_atomically(folder.file("torn"), whole.substr(0, whole.size() - 10));
  EXPECT_INPUT_ERROR(load_program(folder.file("torn")), folder.file("torn"), "cut off");
  EXPECT_EQ(load_program(folder.file("torn"), {.accept_torn_end = true}).op_count(), 185);
}

TEST(Load, SaysWhatIsWrongWithAFile) {
  const testing::TemporaryFolder folder;
  const auto with = [&folder](std::string_view content) {
    write_file_atomically(folder.file("x"), content);
    return folder.file("x");
  };
  EXPECT_SYSTEM_ERROR(load_program("/nowhere/x"), "/nowhere/x", "No such file");
  EXPECT_INPUT_ERROR(load_program(with("")), folder.file("x"), "JSON");
  EXPECT_INPUT_ERROR(load_program(with("{}")), folder.file("x"), "neither a step trace");
  EXPECT_INPUT_ERROR(load_program(with("\x7f"
                                       "ELF")),
                     folder.file("x"), "JSON");
  EXPECT_INPUT_ERROR(load_program(with("EBBTRACE")), folder.file("x"), "header is cut off");
  const std::string packed = read_file(testing::bundled("unet.json.gz"));
  EXPECT_INPUT_ERROR(load_program(with(packed.substr(0, 3000))), folder.file("x"), "truncated gzip");
}

}  // namespace
}  // namespace ebb
