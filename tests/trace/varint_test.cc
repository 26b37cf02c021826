#include "trace/varint.h"

#include <gtest/gtest.h>

#include <limits>

namespace ebb {
namespace {

TEST(Varint, GivesBackEveryMagnitude) {
  for (int bit = 0; bit < 64; ++bit) {
    for (std::uint64_t value :
         {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit, ~std::uint64_t{0} >> bit}) {
      std::string out;
      put_varint(out, value);
      std::string_view in = out;
      std::uint64_t back = 0;
      ASSERT_TRUE(take_varint(in, back));
      EXPECT_EQ(back, value);
      EXPECT_TRUE(in.empty());
    }
  }
}

TEST(Varint, ZigzagKeepsSmallNumbersSmall) {
  EXPECT_EQ(zigzag(0), 0u);
  EXPECT_EQ(zigzag(-1), 1u);
  EXPECT_EQ(zigzag(1), 2u);
  for (std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{12345}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(unzigzag(zigzag(value)), value);
}

TEST(Varint, RefusesWhatIsCutOffOrTooLong) {
  std::uint64_t value = 0;
  for (std::string bytes :
       {std::string(""), std::string("\x80"), std::string(10, '\xff'), std::string(9, '\xff') + "\x02"}) {
    std::string_view in = bytes;
    EXPECT_FALSE(take_varint(in, value));
  }
}

}  // namespace
}  // namespace ebb
