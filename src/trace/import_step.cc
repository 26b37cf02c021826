#include "trace/import_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "trace/access_list.h"
#include "trace/error.h"
#include "trace/json_records.h"

namespace ebb {
namespace {

constexpr OpIndex kOutlives = -2;  // the file's code for "not freed in the iteration"
constexpr Bytes kLargestTotal = Bytes{1} << 60;

struct RecordedOp {
  Op op;  // accesses are filled in when all blocks are known
  Bytes extra = 0;
  std::vector<BlockId> reads;
  std::vector<BlockId> writes;
};

struct RecordedBlock {
  Bytes bytes = 0;
  OpIndex brought = kNoOp;
  OpIndex freed = kOutlives;
};

struct Recording {
  std::string model;
  Nanoseconds plain_step = 0;
  Bytes peak_allocated = 0;
  std::vector<RecordedOp> ops;
  std::vector<RecordedBlock> blocks;
};

Phase read_phase(const JsonRecord& record) {
  if (!record.has("p")) return Phase::unknown;
  const std::string letter = record.text("p");
  for (Phase phase : {Phase::forward, Phase::backward, Phase::zero_grad, Phase::update, Phase::unknown})
    if (letter == std::string(1, static_cast<char>(phase))) return phase;
  record.fail("\"p\" is none of F, B, Z, U");
}

RecordedOp read_op(const JsonRecord& record) {
  RecordedOp recorded;
  recorded.op.name = record.text("n");
  recorded.op.phase = read_phase(record);
  recorded.op.duration = record.time("us", 1000);
  recorded.op.random = record.flag("rng");
  recorded.extra = record.bytes("x");
  recorded.reads = record.ids("r");
  recorded.writes = record.ids("w");
  return recorded;
}

RecordedBlock read_block(const JsonRecord& record) {
  RecordedBlock block;
  block.bytes = record.bytes("b");
  block.brought = static_cast<OpIndex>(record.integer("a", -1, kLastIndex));
  block.freed = static_cast<OpIndex>(record.integer("f", -2, kLastIndex));
  if (block.freed == -1) record.fail("\"f\" is -1: an op index or -2 is expected");
  return block;
}

Recording read_recording(std::string_view json, const std::string& file) {
  Recording recording;
  read_json_records(json, file, [&](const JsonRecord& record) {
    const bool listed = record.index() >= 0;
    if (record.member() == "meta" && !listed) {
      if (record.has("model")) recording.model = record.text("model");
      if (record.has("plain_step_us")) recording.plain_step = record.time("plain_step_us", 1000);
      if (record.has("peak_allocated_bytes")) recording.peak_allocated = record.bytes("peak_allocated_bytes");
    } else if (record.member() == "ops" && listed) {
      recording.ops.push_back(read_op(record));
    } else if (record.member() == "blocks" && listed) {
      recording.blocks.push_back(read_block(record));
    }
    return true;
  });
  if (recording.ops.empty()) throw InputError(fmt::format("{}: no \"ops\" in it", file));
  return recording;
}

class StepImporter {
 public:
  StepImporter(Recording recording, const std::string& file)
      : recording_(std::move(recording)), file_(file), ops_(static_cast<OpIndex>(recording_.ops.size())) {
    first_backward_ = ops_;
    for (OpIndex i = ops_; i-- > 0;)
      if (recorded(i).op.phase == Phase::backward) first_backward_ = i;
  }

  Program import(const StepOptions& options) {
    ProgramInfo info{.name = recording_.model, .measured_step = recording_.plain_step};
    add_blocks();
    for (OpIndex i = 0; i < ops_; ++i) add_accesses(i);
    std::vector<Op> ops;
    ops.reserve(recording_.ops.size());
    for (RecordedOp& recorded : recording_.ops) ops.push_back(std::move(recorded.op));
    recording_.ops.clear();
    try {
      Program program = Program::build(std::move(info), std::move(ops), std::move(blocks_));
      if (!options.with_unmanaged) return program;
      ProgramInfo counted = program.info();
      counted.unmanaged = std::max(Bytes{0}, recording_.peak_allocated - program.peak_demand());
      return Program::build(std::move(counted), program.ops(), program.blocks());
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", file_, error.what()));
    }
  }

 private:
  RecordedOp& recorded(OpIndex i) { return recording_.ops[static_cast<std::size_t>(i)]; }

  void add_blocks() {
    std::vector<Bytes> brought(recording_.ops.size(), 0);
    Bytes total = 0;
    for (std::size_t id = 0; id < recording_.blocks.size(); ++id) {
      const RecordedBlock& block = recording_.blocks[id];
      if (block.bytes > kLargestTotal - total)
        throw InputError(fmt::format("{}: the blocks up to blocks[{}] exceed 2^60 bytes", file_, id));
      total += block.bytes;
      if (block.brought >= ops_ || block.freed >= ops_)
        throw InputError(
            fmt::format("{}: blocks[{}] is brought by op {} and freed after op {}, but there are {} ops",
                        file_, id, block.brought, block.freed, ops_));
      if (block.freed >= 0 && block.freed < block.brought)
        throw InputError(fmt::format("{}: blocks[{}] is freed after op {}, before op {} brings it", file_, id,
                                     block.freed, block.brought));
      if (block.brought >= 0) brought[static_cast<std::size_t>(block.brought)] += block.bytes;
      blocks_.push_back(with_lifetime(block));
    }
    for (std::size_t i = 0; i < brought.size(); ++i)
      recording_.ops[i].op.workspace = std::max(Bytes{0}, recording_.ops[i].extra - brought[i]);
  }

  Block with_lifetime(const RecordedBlock& recorded_block) {
    const auto [bytes, brought, freed] = recorded_block;
    const Block persistent{.bytes = bytes, .lifetime = Lifetime::persistent};
    if (brought < 0) return persistent;
    if (freed >= 0) return {.bytes = bytes, .lifetime = Lifetime::local, .birth = brought, .death = freed};
    if (recorded(brought).op.phase == Phase::update) return persistent;
    const OpIndex death = std::min(first_backward_, brought) - 1;
    if (death < 0) return {.bytes = bytes, .lifetime = Lifetime::local, .birth = brought, .death = ops_ - 1};
    return {.bytes = bytes, .lifetime = Lifetime::wrapping, .birth = brought, .death = death};
  }

  void add_accesses(OpIndex i) {
    RecordedOp& recorded_op = recorded(i);
    AccessList accesses;
    for (BlockId b : recorded_op.reads) accesses.read(check_use(i, b));
    for (BlockId b : recorded_op.writes) accesses.write(check_use(i, b));
    recorded_op.op.accesses = accesses.take();
    const std::string& name = recorded_op.op.name;
    if (name.find("batch_norm") == std::string::npos || name.find("backward") != std::string::npos) return;
    for (Access& access : recorded_op.op.accesses) {
      const bool stays = blocks_[static_cast<std::size_t>(access.block)].lifetime == Lifetime::persistent;
      access.side_effect = access.reads && access.writes && stays;
    }
  }

  // Program::build cannot see this one: a wrapping block is alive before its birth, but there it is the
  // previous iteration's, which the recorder saw nobody use.
  BlockId check_use(OpIndex i, BlockId b) {
    if (b >= static_cast<BlockId>(recording_.blocks.size()))
      throw InputError(fmt::format("{}: ops[{}] '{}' uses block {}, but there are {} blocks", file_, i,
                                   recorded(i).op.name, b, recording_.blocks.size()));
    const OpIndex brought = recording_.blocks[static_cast<std::size_t>(b)].brought;
    if (brought > i)
      throw InputError(fmt::format("{}: ops[{}] '{}' uses block {} before op {} brings it", file_, i,
                                   recorded(i).op.name, b, brought));
    return b;
  }

  Recording recording_;
  const std::string& file_;
  OpIndex ops_;
  OpIndex first_backward_;
  std::vector<Block> blocks_;
};

}  // namespace

Program import_step(std::string_view json, const std::string& file, const StepOptions& options) {
  return StepImporter(read_recording(json, file), file).import(options);
}

}  // namespace ebb
