#include "cli/limit.h"

#include <gtest/gtest.h>

#include "cli/small_program.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

TEST(ParseLimit, ReadsSizesAndSharesOfThePeakDemand) {
  const Program program = small_program();
  ASSERT_EQ(program.peak_demand(), 192 * kMiB);
  EXPECT_EQ(parse_limit("150MiB", program), 150 * kMiB);
  EXPECT_EQ(parse_limit("100%", program), 192 * kMiB);
  EXPECT_EQ(parse_limit("50%", program), 96 * kMiB);
  EXPECT_EQ(parse_limit("50 %", program), 96 * kMiB);
  EXPECT_EQ(parse_limit("12.5%", program), 24 * kMiB);
}

TEST(ParseLimit, QuotesWhatItCannotRead) {
  const Program program = small_program();
  for (const char* text :
       {"", "%", "0", "0%", "-5%", "nan%", "inf%", "1e9%", "half", "8GiBs", "-1GiB", "50%%"}) {
    try {
      parse_limit(text, program);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("limit '" + std::string(text) + "': ", 0), 0u)
          << error.what();
    }
  }
}

TEST(WhyOutOfReach, NamesTheOpItsBytesAndTheSmallestLimit) {
  const Program program = small_program();
  EXPECT_EQ(why_out_of_reach(128 * kMiB, program), std::nullopt);
  EXPECT_EQ(
      why_out_of_reach(128 * kMiB - 1, program),
      "no plan can keep a limit of 128.0 MiB (134217727 bytes): op 0 'make' alone needs 128.0 MiB (134217728 "
      "bytes), which is the smallest limit");
}

}  // namespace
}  // namespace ebb::cli
