#include "trace/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "trace/error.h"
#include "trace/lifetime.h"

namespace ebb {
namespace {

constexpr Bytes kLargestTotal = Bytes{1} << 60;  // an exbibyte, and 36 years: sums stay far from overflow

template <typename T>
void add_checked(T& total, T amount, const char* what, std::size_t index) {
  if (amount < 0) throw InputError(fmt::format("{} {} is negative: {}", what, index, amount));
  if (amount > kLargestTotal - total)
    throw InputError(fmt::format("the sum up to {} {} exceeds 2^60 (it adds {})", what, index, amount));
  total += amount;
}

std::string place(const Op& op, std::size_t index) { return fmt::format("op {} '{}'", index, op.name); }

void check_block(const Block& block, std::size_t id, OpIndex ops) {
  if (block.lifetime == Lifetime::persistent) {
    if (block.birth != kNoOp || block.death != kNoOp)
      throw InputError(fmt::format("persistent block {} has a birth or a death", id));
    return;
  }
  if (block.birth < 0 || block.birth >= ops || block.death < 0 || block.death >= ops)
    throw InputError(fmt::format("block {} lives from op {} to op {}, but there are only {} ops", id,
                                 block.birth, block.death, ops));
  const bool wraps = block.lifetime == Lifetime::wrapping;
  if (wraps ? block.death >= block.birth : block.death < block.birth)
    throw InputError(fmt::format("{} block {} is born at op {} and dies at op {}",
                                 wraps ? "wrapping" : "local", id, block.birth, block.death));
}

}  // namespace

Program Program::build(ProgramInfo info, std::vector<Op> ops, std::vector<Block> blocks) {
  Program program;
  program.info_ = std::move(info);
  program.ops_ = std::move(ops);
  program.blocks_ = std::move(blocks);
  program.check();
  program.fill_births();
  program.derive_deaths();
  program.derive_versions();
  program.derive_load();
  return program;
}

void Program::check() const {
  if (ops_.empty()) throw InputError("a program needs at least one op");
  if (ops_.size() > std::numeric_limits<OpIndex>::max() / 4)
    throw InputError(fmt::format("{} ops are more than an op index can count", ops_.size()));
  Bytes bytes = 0;
  add_checked(bytes, info_.unmanaged, "unmanaged bytes of program", 0);
  for (std::size_t id = 0; id < blocks_.size(); ++id) {
    add_checked(bytes, blocks_[id].bytes, "size of block", id);
    check_block(blocks_[id], id, op_count());
  }
  Nanoseconds time = 0;
  std::vector<OpIndex> seen(blocks_.size(), kNoOp);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    add_checked(time, op.duration, "duration of op", i);
    add_checked(time, op.issue, "issue time of op", i);
    time -= op.issue;
    add_checked(bytes, op.workspace, "workspace of op", i);
    for (const Access& access : op.accesses) {
      if (access.block < 0 || access.block >= block_count())
        throw InputError(fmt::format("{} uses block {}, but there are {} blocks", place(op, i), access.block,
                                     block_count()));
      const auto b = static_cast<std::size_t>(access.block);
      if (seen[b] == static_cast<OpIndex>(i))
        throw InputError(fmt::format("{} lists block {} twice", place(op, i), access.block));
      seen[b] = static_cast<OpIndex>(i);
      if (!access.reads && !access.writes)
        throw InputError(fmt::format("{} neither reads nor writes block {}", place(op, i), access.block));
      if (!alive_at(blocks_[b], static_cast<OpIndex>(i)))
        throw InputError(fmt::format("{} {} block {} outside its life (born at op {}, freed after op {})",
                                     place(op, i), access.reads ? "reads" : "writes", access.block,
                                     blocks_[b].birth, blocks_[b].death));
    }
  }
}

void Program::fill_births() {
  const bool given = std::any_of(ops_.begin(), ops_.end(), [](const Op& op) { return !op.births.empty(); });
  std::vector<std::size_t> expected(ops_.size(), 0);
  birth_bytes_.assign(ops_.size(), 0);
  for (std::size_t id = 0; id < blocks_.size(); ++id) {
    if (blocks_[id].birth == kNoOp) continue;
    const auto op = static_cast<std::size_t>(blocks_[id].birth);
    ++expected[op];
    birth_bytes_[op] += blocks_[id].bytes;
    if (!given) ops_[op].births.push_back(static_cast<BlockId>(id));
  }
  if (!given) return;
  std::vector<bool> born(blocks_.size(), false);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    for (BlockId b : ops_[i].births) {
      if (b < 0 || b >= block_count() || block(b).birth != static_cast<OpIndex>(i) ||
          born[static_cast<std::size_t>(b)])
        throw InputError(
            fmt::format("{} lists a birth of block {} that is not its own", place(ops_[i], i), b));
      born[static_cast<std::size_t>(b)] = true;
    }
    if (ops_[i].births.size() != expected[i])
      throw InputError(fmt::format("{} lists {} births, but {} blocks are born there", place(ops_[i], i),
                                   ops_[i].births.size(), expected[i]));
  }
}

void Program::derive_deaths() {
  death_first_.assign(ops_.size() + 1, 0);
  for (const Block& block : blocks_)
    if (block.death != kNoOp) ++death_first_[static_cast<std::size_t>(block.death) + 1];
  for (std::size_t i = 0; i < ops_.size(); ++i) death_first_[i + 1] += death_first_[i];
  deaths_.resize(death_first_.back());
  std::vector<std::uint32_t> next(death_first_.begin(), death_first_.end() - 1);
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    if (blocks_[b].death != kNoOp)
      deaths_[next[static_cast<std::size_t>(blocks_[b].death)]++] = static_cast<BlockId>(b);
}

void Program::derive_versions() {
  const std::size_t blocks = blocks_.size();
  // Wrapping and persistent blocks enter the iteration with the content the previous one left in them.
  std::vector<VersionId> current(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    current[b] = static_cast<VersionId>(versions_.size());
    versions_.push_back(
        {static_cast<BlockId>(b), blocks_[b].lifetime == Lifetime::local ? kUndefined : kCarried});
  }
  version_at_birth_ = current;
  std::vector<std::vector<BlockAccess>> lists(blocks);
  input_first_.push_back(0);
  output_first_.push_back(0);
  for (OpIndex i = 0; i < op_count(); ++i) {
    const Op& op = ops_[static_cast<std::size_t>(i)];
    for (BlockId b : op.births) {
      if (block(b).lifetime != Lifetime::wrapping) continue;
      version_at_birth_[static_cast<std::size_t>(b)] = static_cast<VersionId>(versions_.size());
      current[static_cast<std::size_t>(b)] = version_at_birth_[static_cast<std::size_t>(b)];
      versions_.push_back({b, kUndefined});
    }
    for (BlockId b : op.births) {
      const bool accessed =
          std::any_of(op.accesses.begin(), op.accesses.end(), [b](const Access& a) { return a.block == b; });
      if (!accessed)
        lists[static_cast<std::size_t>(b)].push_back({i, false, false, current[static_cast<std::size_t>(b)]});
    }
    for (const Access& access : op.accesses) {
      const auto b = static_cast<std::size_t>(access.block);
      const VersionId before = current[b];
      const bool defined = version(before).writer != kUndefined;
      if (!access.side_effect && defined) inputs_.push_back(before);
      if (!access.side_effect && access.writes) {
        current[b] = static_cast<VersionId>(versions_.size());
        versions_.push_back({access.block, i});
        outputs_.push_back({current[b], defined ? before : -1});
      }
      lists[b].push_back({i, access.reads, access.writes, current[b]});
    }
    input_first_.push_back(static_cast<std::uint32_t>(inputs_.size()));
    output_first_.push_back(static_cast<std::uint32_t>(outputs_.size()));
  }
  block_first_.push_back(0);
  for (auto& list : lists) {
    block_accesses_.insert(block_accesses_.end(), list.begin(), list.end());
    block_first_.push_back(static_cast<std::uint32_t>(block_accesses_.size()));
  }
}

void Program::derive_load() {
  std::vector<Bytes> change(ops_.size() + 1, 0);
  for (const Block& block : blocks_) {
    const bool from_start = block.lifetime != Lifetime::local;
    const bool to_end = block.lifetime != Lifetime::local;
    if (from_start) change[0] += block.bytes;
    if (block.birth != kNoOp) {
      change[static_cast<std::size_t>(block.birth)] += block.bytes;
      change[static_cast<std::size_t>(block.death) + 1] -= block.bytes;
    }
    if (to_end) change[ops_.size()] -= block.bytes;
  }
  load_.resize(ops_.size());
  Bytes now = 0;
  for (std::size_t i = 0; i < ops_.size(); ++i) load_[i] = now += change[i];
  for (const Op& op : ops_) compute_time_ += op.duration;
}

std::span<const BlockAccess> Program::accesses(BlockId b) const {
  const auto i = static_cast<std::size_t>(b);
  return {block_accesses_.data() + block_first_[i], block_accesses_.data() + block_first_[i + 1]};
}

std::span<const BlockId> Program::deaths(OpIndex op) const {
  const auto i = static_cast<std::size_t>(op);
  return {deaths_.data() + death_first_[i], deaths_.data() + death_first_[i + 1]};
}

std::span<const VersionId> Program::inputs(OpIndex op) const {
  const auto i = static_cast<std::size_t>(op);
  return {inputs_.data() + input_first_[i], inputs_.data() + input_first_[i + 1]};
}

std::span<const OpOutput> Program::outputs(OpIndex op) const {
  const auto i = static_cast<std::size_t>(op);
  return {outputs_.data() + output_first_[i], outputs_.data() + output_first_[i + 1]};
}

Bytes Program::peak_load() const { return *std::max_element(load_.begin(), load_.end()); }

OpIndex Program::peak_op() const {
  OpIndex best = 0;
  for (OpIndex i = 1; i < op_count(); ++i)
    if (demand(i) > demand(best)) best = i;
  return best;
}

Bytes Program::peak_demand() const { return demand(peak_op()); }

}  // namespace ebb
