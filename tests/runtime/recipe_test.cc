#include "runtime/recipe.h"

#include <gtest/gtest.h>

namespace ebb {
namespace {

// a, b = f(a), c = g(b): contents 1 each, all resident.
class RecipeBookTest : public ::testing::Test {
 protected:
  RecipeBookTest() {
    for (PagedBlock* block : {&a, &b, &c}) {
      block->version = 1;
      block->at.place = Residence::Place::device;
    }
    b.maker = add("f", {{a.handle, 1, kNoStep}}, b);
    c.maker = add("g", {{b.handle, 1, b.maker}}, c);
  }
  StepId add(const char* name, const std::vector<StepInput>& inputs, const PagedBlock& output) {
    std::unique_ptr<Step> step = book.blank();
    step->letters.assign(std::string_view(name));
    step->at = ++ops;
    step->inputs.assign(inputs);
    step->outputs = {{output.handle, output.bytes, output.version}};
    step->duration = 5;
    return book.record(std::move(step));
  }
  void drop(PagedBlock& block) {
    ASSERT_TRUE(book.drop(block, *book.recipe_for(block)));
    block.at.place = Residence::Place::dropped;
  }

  BlockTable table;
  RecipeBook book{table, {.most_steps = 2, .longest_recipe = 2}};
  PagedBlock& a = table.create(8);
  PagedBlock& b = table.create(8);
  PagedBlock& c = table.create(8);
  std::int64_t ops = 0;
};

TEST_F(RecipeBookTest, ReplaysOnlyWhatIsAbsent) {
  const ReplayRecipe recipe = *book.recipe_for(c);
  EXPECT_EQ(recipe.steps, (std::vector<StepId>{1}));
  EXPECT_EQ(recipe.leaves, (std::vector<Handle>{b.handle}));
  EXPECT_EQ(recipe.duration, 5);
}

TEST_F(RecipeBookTest, PassesThroughDroppedInputs) {
  drop(b);
  const ReplayRecipe recipe = *book.recipe_for(c);
  EXPECT_EQ(recipe.steps, (std::vector<StepId>{0, 1}));
  EXPECT_EQ(recipe.leaves, (std::vector<Handle>{a.handle}));
}

TEST_F(RecipeBookTest, GivesDependentsAnotherRecipeWhenTheirInputIsDropped) {
  drop(c);
  EXPECT_TRUE(book.needed(b));
  drop(b);
  EXPECT_FALSE(book.needed(b)) << "c is made from a now";
  EXPECT_EQ(book.recipe_of(c).steps, (std::vector<StepId>{0, 1}));
}

TEST_F(RecipeBookTest, NamesTheBlocksThatAChangeWouldStrand) {
  drop(c);
  const BlockHold changing(b, &PagedBlock::changing);
  EXPECT_EQ(book.detach(b), std::vector<Handle>{}) << "c can be made from a";
  std::vector<Handle> released;
  book.take_released(released);
  EXPECT_EQ(released, std::vector<Handle>{b.handle});
  EXPECT_EQ(book.detach(a), std::vector<Handle>{c.handle});
}

TEST_F(RecipeBookTest, HasNoRecipeForOtherVersionsOrChangingBlocks) {
  b.version = 2;
  EXPECT_EQ(book.recipe_for(c)->leaves, (std::vector<Handle>{a.handle})) << "b's old content is made again";
  a.changing = 1;
  EXPECT_FALSE(book.recipe_for(c));
}

TEST_F(RecipeBookTest, HasNoRecipeThatIsTooLong) {
  PagedBlock& d = table.create(8);
  d.version = 1;
  d.at.place = Residence::Place::device;
  d.maker = add("h", {{c.handle, 1, c.maker}}, d);
  drop(b);
  drop(c);
  EXPECT_FALSE(book.recipe_for(d)) << "three steps, two are allowed";
}

TEST_F(RecipeBookTest, ExpiresStepsThatNobodyNeeds) {
  PagedBlock& d = table.create(8);
  d.version = 1;
  d.at.place = Residence::Place::device;
  d.maker = add("h", {{c.handle, 1, c.maker}}, d);
  EXPECT_TRUE(book.full(0));
  drop(b);
  EXPECT_EQ(book.expiring(), std::vector<Handle>{b.handle});
  b.at.place = Residence::Place::device;
  book.forget(b.handle);
  book.expire_oldest();
  EXPECT_FALSE(book.full(0));
  EXPECT_FALSE(book.recipe_for(b));
  EXPECT_TRUE(book.recipe_for(c));
}

TEST_F(RecipeBookTest, ForgetsStepsBehindTheHorizon) {
  EXPECT_FALSE(book.full(100));
  book.set_horizon(10);
  EXPECT_FALSE(book.full(11)) << "f ran at op 1";
  EXPECT_TRUE(book.full(12));
  EXPECT_EQ(book.expiring(), std::vector<Handle>{});
  book.expire_oldest();
  EXPECT_FALSE(book.full(12)) << "g ran at op 2";
  EXPECT_FALSE(book.recipe_for(b));
  EXPECT_TRUE(book.recipe_for(c));
  book.set_horizon(std::nullopt);
  EXPECT_FALSE(book.full(100));
}

TEST_F(RecipeBookTest, FindsItsStepsAgainHoweverManyCameAndWent) {
  for (int k = 0; k < 1000; ++k) {
    c.maker = add("h", {{a.handle, 1, kNoStep}}, c);
    EXPECT_EQ(book.step(c.maker).at, ops);
    EXPECT_EQ(book.step(b.maker).name(), "f");
    EXPECT_EQ(book.steps(), static_cast<std::size_t>(k) + 3);
  }
  for (int k = 0; k < 999; ++k) book.expire_oldest();
  EXPECT_EQ(book.steps(), 3u);
  EXPECT_TRUE(book.recipe_for(c));
  EXPECT_FALSE(book.recipe_for(b));
  for (int k = 0; k < 300; ++k) {
    c.maker = add("i", {{a.handle, 1, kNoStep}}, c);
    book.expire_oldest();
  }
  EXPECT_EQ(book.step(c.maker).name(), "i");
  EXPECT_EQ(book.step(c.maker - 2).at, ops - 2);
  EXPECT_TRUE(book.full(ops)) << "three are one too many";
  book.expire_oldest();
  book.set_horizon(2);
  EXPECT_FALSE(book.full(ops + 1));
  EXPECT_TRUE(book.full(ops + 2)) << "the last but one ran at op " << ops - 1;
}

TEST_F(RecipeBookTest, WhatAStepCapturedGoesWithIt) {
  const auto captured = std::make_shared<int>(7);
  std::unique_ptr<Step> step = book.blank();
  step->function = [captured](ExecContext&) {};
  step->at = ++ops;
  book.record(std::move(step));
  EXPECT_EQ(captured.use_count(), 2);
  for (int k = 0; k < 3; ++k) book.expire_oldest();
  EXPECT_EQ(captured.use_count(), 1);
}

TEST_F(RecipeBookTest, ABlankStepHasNothingOfTheOneBefore) {
  book.expire_oldest();
  const std::unique_ptr<Step> step = book.blank();
  EXPECT_EQ(step->name(), "");
  EXPECT_TRUE(step->inputs.empty() && step->outputs.empty() && step->births.empty());
  EXPECT_FALSE(step->duration);
  EXPECT_EQ(step->planned_op, kNoOp);
}

}  // namespace
}  // namespace ebb
