#include "trace/batch_model.h"

#include <gtest/gtest.h>

#include "batch_steps.h"
#include "trace/error.h"

namespace ebb {
namespace {

TEST(BatchModel, SizesAndTimesAreOnALineThroughTheTwo) {
  const BatchModel model(step_of(2), 2, step_of(4), 4);
  for (const std::int64_t batch : {1, 2, 3, 4, 100}) {
    const Program program = model.at(batch);
    EXPECT_EQ(program.ops(), step_of(batch).ops()) << batch;
    EXPECT_EQ(program.blocks(), step_of(batch).blocks()) << batch;
  }
}

TEST(BatchModel, TheOrderOfTheTwoDoesNotMatter) {
  const BatchModel model(step_of(4), 4, step_of(2), 2);
  EXPECT_EQ(model.smaller(), 2);
  EXPECT_EQ(model.larger(), 4);
  EXPECT_EQ(model.at(7).blocks(), step_of(7).blocks());
}

TEST(BatchModel, WhatShrinksIsNotDrawnOnBeyondTheLarger) {
  std::vector<Op> ops = step_of(4).ops();
  ops[1].duration = 6;
  ops[1].workspace = 0;
  std::vector<Op> before = step_of(2).ops();
  before[1].workspace = 30;
  const BatchModel model(Program::build(step_of(2).info(), before, step_of(2).blocks()), 2,
                         Program::build(step_of(4).info(), ops, step_of(4).blocks()), 4);
  EXPECT_EQ(model.at(3).op(1).duration, 9);
  EXPECT_EQ(model.at(3).op(1).workspace, 15);
  EXPECT_EQ(model.at(50).op(1).duration, 6);
  EXPECT_EQ(model.at(50).op(1).workspace, 0);
}

TEST(BatchModel, RefusesTwoDifferentStepsAndNamesTheOp) {
  try {
    const BatchModel model(step_of(2), 2, step_of(4, "forth"), 4);
    FAIL() << "took two models for one";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("op 2 is 'back' in one and 'forth'"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(BatchModel(step_of(2), 2, step_of(2), 2), InputError);
  EXPECT_THROW(BatchModel(step_of(2), 0, step_of(4), 4), InputError);
}

}  // namespace
}  // namespace ebb
