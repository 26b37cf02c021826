#include "trace/block_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/error.h"

namespace ebb {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 60;

class HistoryBuilder {
 public:
  HistoryBuilder(const Trace& trace, const std::string& place) : trace_(trace), place_(place) {}

  std::vector<BlockHistory> build() {
    if (trace_.unmanaged < 0 || trace_.unmanaged > kLargest)
      throw InputError(fmt::format("{}: {} unmanaged bytes are impossible", place_, trace_.unmanaged));
    for (event_ = 0; event_ < trace_.events.size(); ++event_) {
      const auto memory = trace_.memory_of(event_);
      for (std::size_t k = 0; k < memory.size(); ++k)
        if (memory[k].is_malloc) note_malloc(memory[k], static_cast<std::uint32_t>(k));
      if (trace_.events[event_].kind == EventKind::exec) check_exec();
      for (std::size_t k = 0; k < memory.size(); ++k)
        if (!memory[k].is_malloc) note_free(memory[k].block, static_cast<std::uint32_t>(k));
    }
    return std::move(blocks_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    const TraceEvent& event = trace_.events[event_];
    const char* kinds[] = {"malloc", "free", "exec"};
    const std::string what =
        event.kind == EventKind::exec ? trace_.names[event.name] : kinds[static_cast<int>(event.kind)];
    throw InputError(fmt::format("{}: event {} '{}' {}", place_, event_, what, problem));
  }

  void check_amount(std::int64_t amount, const char* what) const {
    if (amount < 0 || amount > kLargest) fail(fmt::format("has an impossible {}: {}", what, amount));
  }

  BlockHistory& known(BlockId block, const char* verb) {
    const auto id = static_cast<std::size_t>(block);
    if (block < 0 || id >= blocks_.size() || blocks_[id].born == kNever)
      fail(fmt::format("{} block {}, which was never malloc'd", verb, block));
    if (blocks_[id].freed != kNever)
      fail(fmt::format("{} block {}, which event {} freed", verb, block, blocks_[id].freed));
    return blocks_[id];
  }

  void note_malloc(const MemoryEvent& memory, std::uint32_t place) {
    check_amount(memory.bytes, "size");
    const std::size_t most = kSparseIds + 4 * mallocs_++;
    if (memory.block < 0 || static_cast<std::size_t>(memory.block) >= most)
      fail(fmt::format("mallocs block {} after {} mallocs; ids must be below {}", memory.block, mallocs_ - 1,
                       most));
    const auto id = static_cast<std::size_t>(memory.block);
    if (id >= blocks_.size()) blocks_.resize(id + 1);
    if (blocks_[id].born != kNever)
      fail(fmt::format("mallocs block {}, which event {} malloc'd already", memory.block, blocks_[id].born));
    if (memory.bytes > kLargest - live_)
      fail(fmt::format("mallocs {} bytes: more than 2^60 live", memory.bytes));
    live_ += memory.bytes;
    blocks_[id] = {.bytes = memory.bytes, .born = static_cast<std::uint32_t>(event_), .born_place = place};
  }

  void note_free(BlockId block, std::uint32_t place) {
    BlockHistory& history = known(block, "frees");
    if (history.born == event_ && history.born_place > place)
      fail(fmt::format("frees block {} before its malloc", block));
    history.freed = static_cast<std::uint32_t>(event_);
    history.freed_place = place;
    live_ -= history.bytes;
  }

  void check_exec() {
    const TraceEvent& event = trace_.events[event_];
    check_amount(event.duration, "duration");
    check_amount(event.issue, "issue time");
    check_amount(event.workspace, "workspace");
    for (const Access& access : trace_.accesses_of(event_)) {
      known(access.block, access.reads ? "reads" : "writes");
      if (!access.reads && !access.writes)
        fail(fmt::format("neither reads nor writes block {}", access.block));
    }
  }

  const Trace& trace_;
  const std::string& place_;
  std::size_t event_ = 0;
  std::size_t mallocs_ = 0;
  Bytes live_ = 0;
  std::vector<BlockHistory> blocks_;
};

}  // namespace

std::vector<BlockHistory> block_histories(const Trace& trace, const std::string& place) {
  return HistoryBuilder(trace, place).build();
}

}  // namespace ebb
