#include "cli/table.h"

#include <gtest/gtest.h>

namespace ebb::cli {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtLineEnds) {
  Table table;
  table.column("name", Align::left);
  table.column("value");
  table.column("note", Align::left);
  table.row({"a", "1", "x"});
  table.row({"longer", "12345678", ""});
  EXPECT_EQ(table.text(),
            "name       value  note\n"
            "a              1  x\n"
            "longer  12345678\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table;
  table.column("§", Align::left);
  table.column("b", Align::left);
  table.row({"[SP] §V", "x"});
  EXPECT_EQ(table.text(),
            "§        b\n"
            "[SP] §V  x\n");
}

TEST(Facts, AlignTheirValues) {
  Facts facts;
  facts.add("ops", "891");
  facts.add("peak load", "1");
  EXPECT_EQ(facts.text(), "ops        891\npeak load  1\n");
}

TEST(Shortened, LeavesOutTheMiddle) {
  EXPECT_EQ(shortened("short", 10), "short");
  EXPECT_EQ(shortened("0123456789abcdef", 9), "0123…cdef");
  EXPECT_EQ(width(shortened("§§§§§§§§§§", 5)), 5u);
}

TEST(Mib, ShowsADecimalOnlyWhereItMatters) {
  EXPECT_EQ(mib(21371 * kMiB), "21371");
  EXPECT_EQ(mib(4 * kMiB + kMiB / 5), "4.2");
  EXPECT_EQ(mib(0), "0");
}

}  // namespace
}  // namespace ebb::cli
