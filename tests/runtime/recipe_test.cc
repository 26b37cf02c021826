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
  StepId add(const char* name, std::vector<StepInput> inputs, const PagedBlock& output) {
    return book.record({.name = name,
                        .function = {},
                        .inputs = std::move(inputs),
                        .outputs = {{output.handle, output.bytes, output.version}},
                        .births = {},
                        .side_effects = {},
                        .duration = 5});
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
  EXPECT_TRUE(book.needed(b.handle));
  drop(b);
  EXPECT_FALSE(book.needed(b.handle)) << "c is made from a now";
  EXPECT_EQ(book.recipe_of(c).steps, (std::vector<StepId>{0, 1}));
}

TEST_F(RecipeBookTest, NamesTheBlocksThatAChangeWouldStrand) {
  drop(c);
  const BlockHold changing(b, &PagedBlock::changing);
  EXPECT_EQ(book.detach(b), std::vector<Handle>{}) << "c can be made from a";
  EXPECT_EQ(book.take_released(), std::vector<Handle>{b.handle});
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
  EXPECT_TRUE(book.full());
  drop(b);
  EXPECT_EQ(book.expiring(), std::vector<Handle>{b.handle});
  b.at.place = Residence::Place::device;
  book.forget(b.handle);
  book.expire_oldest();
  EXPECT_FALSE(book.full());
  EXPECT_FALSE(book.recipe_for(b));
  EXPECT_TRUE(book.recipe_for(c));
}

}  // namespace
}  // namespace ebb
