#include "trace/fingerprint.h"

#include <fmt/format.h>

#include <string_view>

namespace ebb {
namespace {

// splitmix64's finaliser over a running sum: every bit of every value reaches every bit of the result.
class Mixer {
 public:
  void add(std::int64_t value) {
    std::uint64_t z = state_ * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(value) + 1;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    state_ = z ^ (z >> 31);
  }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (char c : text) add(static_cast<std::int64_t>(static_cast<unsigned char>(c)));
  }
  std::uint64_t result() const { return state_; }

 private:
  std::uint64_t state_ = 0x65626221u;
};

void add_op(Mixer& mixer, const Op& op) {
  mixer.add(op.name);
  mixer.add(op.replayable + 2 * op.random);
  mixer.add(static_cast<std::int64_t>(op.accesses.size()));
  for (const Access& access : op.accesses) {
    mixer.add(access.block);
    mixer.add(access.reads + 2 * access.writes + 4 * access.side_effect);
  }
  mixer.add(static_cast<std::int64_t>(op.births.size()));
  for (BlockId block : op.births) mixer.add(block);
}

void add_block(Mixer& mixer, const Block& block) {
  mixer.add(block.bytes);
  mixer.add(static_cast<std::int64_t>(block.lifetime));
  mixer.add(block.birth);
  mixer.add(block.death);
}

}  // namespace

std::uint64_t fingerprint(const Program& program) {
  Mixer mixer;
  mixer.add(program.op_count());
  for (const Op& op : program.ops()) add_op(mixer, op);
  mixer.add(program.block_count());
  for (const Block& block : program.blocks()) add_block(mixer, block);
  return mixer.result();
}

std::string fingerprint_text(std::uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

}  // namespace ebb
