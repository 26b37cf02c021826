#include "backend/issue_thread.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace ebb {
namespace {

using Numbers = std::vector<int>;

struct Note {
  Numbers* list = nullptr;
  int number = 0;
  void operator()() const {
    if (number < 0) throw std::runtime_error("a negative number");
    list->push_back(number);
  }
};

TEST(IssueThread, MakesAllCallsInOrder) {
  Numbers made;
  {
    IssueThread<Note> issuer;
    for (int i = 0; i < 20'000; ++i) EXPECT_EQ(issuer.push({&made, i}), static_cast<Ticket>(i + 1));
  }
  ASSERT_EQ(made.size(), 20'000u);
  for (int i = 0; i < 20'000; ++i) EXPECT_EQ(made[static_cast<std::size_t>(i)], i);
}

TEST(IssueThread, WhoWaitsForACallSeesWhatItDid) {
  Numbers made;
  IssueThread<Note> issuer;
  for (int i = 0; i < 300; ++i) {
    issuer.push({&made, i});
    const Ticket second = issuer.push({&made, i});
    issuer.wait_for(second);
    EXPECT_TRUE(issuer.made(second));
    EXPECT_EQ(made.size(), 2 * static_cast<std::size_t>(i + 1));
  }
}

TEST(IssueThread, IsWokenWhenItHasSleptLong) {
  Numbers made;
  IssueThread<Note> issuer;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    issuer.wait_for(issuer.push({&made, i}));
  }
  EXPECT_EQ(made, (Numbers{0, 1, 2, 3, 4}));
}

TEST(IssueThread, BeginsWithWhatItIsTold) {
  Numbers made;
  IssueThread<Note> issuer([&] { made.push_back(7); });
  issuer.wait_for(issuer.push({&made, 8}));
  EXPECT_EQ(made, (Numbers{7, 8}));
}

TEST(IssueThread, ACallThatThrowsIsToldFromThenOn) {
  Numbers made;
  IssueThread<Note> issuer;
  issuer.push({&made, 1});
  const Ticket bad = issuer.push({&made, -1});
  EXPECT_THROW(issuer.wait_for(bad), std::runtime_error);
  EXPECT_TRUE(issuer.made(bad));
  EXPECT_THROW(issuer.push({&made, 2}), std::runtime_error);
  EXPECT_THROW(issuer.check(), std::runtime_error);
  EXPECT_EQ(made, (Numbers{1}));
}

TEST(IssueThread, ABeginThatThrowsIsToldToo) {
  Numbers made;
  IssueThread<Note> issuer([] { throw std::runtime_error("no device"); });
  EXPECT_THROW(
      {
        issuer.push({&made, 1});
        issuer.wait_for(issuer.last());
      },
      std::runtime_error);
}

}  // namespace
}  // namespace ebb
