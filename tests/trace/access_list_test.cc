#include "trace/access_list.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(AccessList, HasOneAccessPerBlockInOrderOfFirstMention) {
  AccessList list;
  list.read(4);
  list.write(2);
  list.write(4);
  list.read(4);
  EXPECT_EQ(list.take(),
            (std::vector<Access>{{.block = 4, .reads = true, .writes = true}, {.block = 2, .writes = true}}));
}

}  // namespace
}  // namespace ebb
