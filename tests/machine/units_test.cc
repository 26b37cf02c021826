#include "machine/units.h"

#include "expect_error.h"

namespace ebb {
namespace {

TEST(Units, BytesAreReadWithBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("8GiB"), 8 * kGiB);
  EXPECT_EQ(parse_bytes("8 GiB"), 8 * kGiB);
  EXPECT_EQ(parse_bytes(" 512 MiB "), 512 * kMiB);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536);
  EXPECT_EQ(parse_bytes("2GB"), 2'000'000'000);
  EXPECT_EQ(parse_bytes("0.5kB"), 500);
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("1TiB"), 1024 * kGiB);
}

TEST(Units, BandwidthsNeedPerSecond) {
  EXPECT_EQ(parse_bandwidth("12.2GB/s"), 12'200'000'000);
  EXPECT_EQ(parse_bandwidth("15.754GiB/s"), 16'915'728'695);
  EXPECT_EQ(parse_bandwidth("55400000000"), 55'400'000'000);
  EXPECT_INPUT_ERROR(parse_bandwidth("12GB"), "12GB", "GB/s");
  EXPECT_INPUT_ERROR(parse_bandwidth("12Gbit/s"), "Gbit", "GB/s");
}

TEST(Units, DurationsAreReadInAllUnits) {
  EXPECT_EQ(parse_duration("10us"), 10'000);
  EXPECT_EQ(parse_duration("10µs"), 10'000);
  EXPECT_EQ(parse_duration("1.5 ms"), 1'500'000);
  EXPECT_EQ(parse_duration("2s"), 2'000'000'000);
  EXPECT_EQ(parse_duration("250"), 250);
}

TEST(Units, AUnitThatCouldMeanTwoThingsIsRefused) {
  EXPECT_INPUT_ERROR(parse_bytes("8G"), "unknown unit 'G' in '8G'", "GiB", "GB");
  EXPECT_INPUT_ERROR(parse_bytes("8gib"), "gib");
}

TEST(Units, WhatIsNoNumberIsRefusedWithAnExample) {
  for (const char* text : {"", "  ", "GiB", "abc", "nan", "inf", "--1", "1e999"})
    EXPECT_INPUT_ERROR(parse_bytes(text), "is not a size such as", "8GiB");
  EXPECT_INPUT_ERROR(parse_bytes("-1GiB"), "-1GiB", "negative");
  EXPECT_INPUT_ERROR(parse_duration("soon"), "soon", "10us");
  EXPECT_INPUT_ERROR(parse_number("1.5x"), "1.5x");
}

TEST(Units, OverflowIsRefused) {
  EXPECT_INPUT_ERROR(parse_bytes("9999999TiB"), "too large");
  EXPECT_INPUT_ERROR(parse_bytes("1e30"), "too large");
}

TEST(Units, PeopleSeeTheLargestFittingUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(8 * kGiB), "8.000 GiB");
  EXPECT_EQ(format_bytes(21'371 * kMiB), "20.87 GiB");
  EXPECT_EQ(format_bytes(-8 * kGiB), "-8.000 GiB");
  EXPECT_EQ(format_bandwidth(55'400'000'000), "55.40 GB/s");
  EXPECT_EQ(format_time(117'256'300), "117.3 ms");
  EXPECT_EQ(format_time(9'000), "9.000 us");
  EXPECT_EQ(format_time(12), "12 ns");
}

}  // namespace
}  // namespace ebb
