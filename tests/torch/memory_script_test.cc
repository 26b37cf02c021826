#include "torch/memory_script.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

namespace ebb::torch_adapter {
namespace {

// Hands out addresses in order, from a place on.
class Memory final : public ExecContext {
 public:
  explicit Memory(std::uintptr_t place) : next_(place) {}
  std::byte* data(Handle block) override { return places_.at(block); }
  Handle malloc(Bytes bytes) override {
    if (static_cast<int>(places_.size()) == most) throw std::runtime_error("no room");
    const auto block = static_cast<Handle>(100 + places_.size());
    places_[block] = reinterpret_cast<std::byte*>(next_);
    next_ += static_cast<std::uintptr_t>(bytes);
    return block;
  }
  void free(Handle block) override { EXPECT_TRUE(freed.insert(block).second); }
  std::uint64_t seed() const override { return 0; }
  bool is_extra(Handle block) const override { return block == extra; }

  std::set<Handle> freed;
  Handle extra = 0;
  int most = 99;

 private:
  std::map<Handle, std::byte*> places_;
  std::uintptr_t next_;
};

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

// A result, and memory that the op gives back.
MemoryScript written() {
  MemoryScript script;
  script.malloced(1, 512, at(0x1000));
  script.malloced(2, 1024, at(0x1200));
  script.freed(2);
  script.freed(77);  // somebody else's
  return script;
}

TEST(MemoryScript, IsTheSameIfTheSameWasAskedForAndLaysThere) {
  MemoryScript other;
  other.malloced(11, 512, at(0x1000));
  other.malloced(12, 1024, at(0x1200));
  EXPECT_FALSE(other == written()) << "one gave nothing back";
  other.freed(12);
  EXPECT_TRUE(other == written()) << "handles are never the same twice";
  other.malloced(13, 512, at(0x1200));
  EXPECT_FALSE(other == written());
}

TEST(MemoryScript, SaysWhetherAllMallocsComeFirst) {
  MemoryScript script = written();
  EXPECT_TRUE(script.mallocs_come_first());
  script.malloced(3, 512, at(0x2000));
  EXPECT_FALSE(script.mallocs_come_first());
}

TEST(MemoryScript, KnowsWhichMallocGotABlock) {
  EXPECT_EQ(written().malloc_of(2), 1);
  EXPECT_EQ(written().malloc_of(3), -1);
}

TEST(ScriptedMemory, IsThatOfTheScriptInOrderAndNoOther) {
  const MemoryScript script = written();
  ScriptedMemory memory(script);
  EXPECT_EQ(memory.next(512), at(0x1000));
  EXPECT_FALSE(memory.was_left());
  EXPECT_EQ(memory.next(512), nullptr);
  EXPECT_TRUE(memory.was_left());
  EXPECT_EQ(memory.next(1024), at(0x1200)) << "after what was asked for besides";
  EXPECT_EQ(memory.next(1024), nullptr);
}

TEST(ScriptedMemory, IsKnownByItsAddressWhileItIsFollowed) {
  const MemoryScript script = written();
  EXPECT_FALSE(ScriptedMemory::has(at(0x1000)));
  {
    const ScriptedMemory memory(script);
    EXPECT_TRUE(ScriptedMemory::has(at(0x1000)));
    EXPECT_TRUE(ScriptedMemory::has(at(0x1200)));
    EXPECT_FALSE(ScriptedMemory::has(at(0x1100)));
    EXPECT_FALSE(ScriptedMemory::has(nullptr));
  }
  EXPECT_FALSE(ScriptedMemory::has(at(0x1000)));
}

TEST(MemoryAgain, GivesBackInTheEndWhatTheOpGaveBack) {
  const MemoryScript script = written();
  Memory memory(0x1000);
  {
    const MemoryAgain again(script, memory);
    EXPECT_TRUE(again.lies_the_same());
    EXPECT_EQ(again.now().malloc_of(100), 0);
    EXPECT_TRUE(memory.freed.empty()) << "it is used until then";
  }
  EXPECT_EQ(memory.freed, std::set<Handle>{101});
}

TEST(MemoryAgain, SaysWhereMemoryLiesElsewhere) {
  const MemoryScript script = written();
  Memory memory(0x5000);
  const MemoryAgain again(script, memory);
  EXPECT_FALSE(again.lies_the_same());
  EXPECT_EQ(again.now().mallocs()[1].address, at(0x5200));
}

TEST(MemoryAgain, KeepsNothingThatTheFrameDoesNotKnow) {
  const MemoryScript script = written();
  Memory memory(0x1000);
  memory.extra = 100;
  { const MemoryAgain again(script, memory); }
  EXPECT_EQ(memory.freed, (std::set<Handle>{100, 101}));
}

TEST(MemoryAgain, WhereThereIsNoRoomNothingIsKept) {
  const MemoryScript script = written();
  Memory memory(0x1000);
  memory.extra = 100;
  memory.most = 1;
  EXPECT_THROW(MemoryAgain(script, memory), std::runtime_error);
  EXPECT_EQ(memory.freed, std::set<Handle>{100});
}

}  // namespace
}  // namespace ebb::torch_adapter
