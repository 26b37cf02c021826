#include "report/timeline_json.h"

#include <gtest/gtest.h>

#include "cli/small_program.h"
#include "trace/error.h"

namespace ebb::report {
namespace {

class Measured : public ::testing::Test {
 protected:
  const Program program_ = cli::small_program();
  const Gaps gaps_{program_};
  const MeasuredStep step_{
      .step_time = 77,
      .timeline = {.spans = {{.lane = Lane::compute, .op = 1, .start = 0, .end = 5},
                             {.lane = Lane::compute, .replay = true, .op = 0, .start = 5, .end = 9},
                             {.lane = Lane::out, .gap = 0, .start = 2, .end = 4},
                             {.lane = Lane::in, .gap = -1, .start = 4, .end = 6}},
                   .stalls = {{.cause = StallCause::copy_in, .op = 2, .start = 9, .end = 11}},
                   .load = {}},
      .iterations = {{.number = 0, .mode = Mode::planned, .step_time = 76, .bytes_out = 5, .peak_arena = 9}}};

  MeasuredStep read(const nlohmann::json& json) const {
    return decode_measured(json, "file", program_, gaps_);
  }
};

TEST_F(Measured, IsReadAsItWasWritten) {
  const MeasuredStep read_back = read(nlohmann::json::parse(encode_measured(step_).dump()));
  EXPECT_EQ(read_back.step_time, step_.step_time);
  EXPECT_EQ(read_back.timeline, step_.timeline);
  EXPECT_EQ(read_back.iterations, step_.iterations);
}

TEST_F(Measured, WhatIsNotOfThisStepIsRefused) {
  const auto good = nlohmann::json::parse(encode_measured(step_).dump());
  auto op = good, gap = good, short_column = good, missing = good, text = good;
  op["timeline"]["compute"]["op"][0] = 4;
  gap["timeline"]["out"]["gap"][0] = 99;
  short_column["timeline"]["stalls"]["op"] = nlohmann::json::array();
  missing.erase("timeline");
  text["step"] = "long";
  for (const auto& bad : {op, gap, short_column, missing, text}) EXPECT_THROW(read(bad), InputError) << bad;
}

}  // namespace
}  // namespace ebb::report
