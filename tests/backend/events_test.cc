#include "backend/events.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

TEST(Events, CarryTheirEngineAndTheirPlaceInTheOrder) {
  for (const Engine engine : {Engine::compute, Engine::out, Engine::in}) {
    EXPECT_EQ(engine_of(make_event(7, engine, Stamp::time)), engine);
    EXPECT_EQ(sequence_of(make_event(7, engine, Stamp::time)), 7u);
    EXPECT_GT(make_event(1, engine, Stamp::time), kHappened);
    EXPECT_LT(make_event(7, engine, Stamp::time), make_event(8, Engine::compute, Stamp::time));
  }
  EXPECT_EQ(describe(make_event(17, Engine::out, Stamp::time)), "out event 17");
}

TEST(Events, TheElapsedWindowIsTheLast65536) {
  const auto ask = [](std::uint64_t sequence, std::uint64_t recorded) {
    require_in_elapsed_window(make_event(sequence, Engine::in, Stamp::time), recorded);
  };
  EXPECT_NO_THROW(ask(1, 1));
  EXPECT_NO_THROW(ask(1, 65'536));
  EXPECT_THROW(ask(1, 65'537), BackendError);
  EXPECT_THROW(ask(2, 1), BackendError);
  EXPECT_THROW(require_in_elapsed_window(kHappened, 5), BackendError);
}

}  // namespace
}  // namespace ebb
