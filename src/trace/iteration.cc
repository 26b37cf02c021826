#include "trace/iteration.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/access_list.h"
#include "trace/error.h"
#include "trace/iteration_script.h"
#include "trace/rotate.h"

namespace ebb {
namespace {

Nanoseconds median(std::vector<Nanoseconds>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The second repeat is the model: there, what a block of the warm-up held in the first has its lasting
// holder.
class Extractor {
 public:
  Extractor(const Trace& trace, const std::vector<BlockHistory>& blocks, const Detection& detection)
      : trace_(trace), histories_(blocks), run_(detection), program_ids_(blocks.size(), kNone) {
    ops_before_.reserve(run_.end - run_.begin + 1);
    for (std::size_t i = run_.begin; i <= run_.end; ++i) {
      ops_before_.push_back(op_count_);
      if (i < run_.end && trace_.events[i].kind == EventKind::exec) ++op_count_;
    }
    period_ops_ = ops_before(run_.begin + run_.period);
  }

  Program extract() {
    if (period_ops_ == 0)
      throw InputError(
          fmt::format("the repeat of {} events from event {} on holds no ops", run_.period, run_.begin));
    ops_.resize(static_cast<std::size_t>(period_ops_));
    script_.resize(ops_.size());
    for (std::size_t i = model_begin(); i < model_begin() + run_.period; ++i) add_event(i);
    add_times();
    add_idle_blocks();
    ProgramInfo info{.name = trace_.name, .unmanaged = unmanaged_, .measured_step = step_};
    return Program::build(std::move(info), std::move(ops_), std::move(blocks_));
  }
  std::vector<ScriptOp> take_script() { return std::move(script_); }

 private:
  static constexpr BlockId kNone = -1;
  static constexpr BlockId kLongLived = kOnceInAWhile;  // counted as unmanaged
  static constexpr BlockId kTransient = kInsideOnly;    // never there while an op runs, or workspace

  std::size_t model_begin() const { return run_.begin + run_.period; }
  OpIndex ops_before(std::size_t event) const { return ops_before_[event - run_.begin]; }
  const BlockHistory& history(BlockId b) const { return histories_[static_cast<std::size_t>(b)]; }
  std::size_t op_of(std::size_t event) const {
    return static_cast<std::size_t>(ops_before(event) % period_ops_);
  }
  Op& op_at(std::size_t event) { return ops_[op_of(event)]; }

  OpIndex birth_of(const BlockHistory& block) const { return ops_before(block.born); }
  OpIndex death_of(const BlockHistory& block) const {
    const bool inside_op = trace_.events[block.freed].kind == EventKind::exec;
    return ops_before(block.freed) - (inside_op ? 0 : 1);
  }

  // The block of the first repeat that stands for all that are malloc'd at its place. Blocks older than the
  // run are shifted into it if a malloc of that size is there; otherwise they stand for themselves.
  BlockId representative(BlockId b) const {
    const BlockHistory& block = history(b);
    std::size_t born = block.born;
    if (born >= run_.begin) {
      born = run_.begin + (born - run_.begin) % run_.period;
    } else {
      if (is_persistent(b)) return b;
      born += (run_.begin - born + run_.period - 1) / run_.period * run_.period;
    }
    const auto memory = trace_.memory_of(born);
    const bool matches = block.born_place < memory.size() && memory[block.born_place].is_malloc &&
                         memory[block.born_place].bytes == block.bytes;
    return matches ? memory[block.born_place].block : b;
  }

  // Older than the run and alive when the model ends.
  bool is_persistent(BlockId b) const {
    const BlockHistory& block = history(b);
    return block.born < run_.begin && (block.freed == kNever || block.freed >= run_.end);
  }

  BlockId program_id(BlockId b) {
    const BlockId stands_for = representative(b);
    BlockId& id = program_ids_[static_cast<std::size_t>(stands_for)];
    if (id == kNone) id = classify(stands_for);
    return id;
  }

  BlockId classify(BlockId b) {
    const BlockHistory& block = history(b);
    if (is_persistent(b)) return add_block({.bytes = block.bytes, .lifetime = Lifetime::persistent});
    if (block.born < run_.begin || block.freed == kNever || block.freed >= run_.end)
      return add_long_lived(b, 1);
    const OpIndex birth = birth_of(block), length = death_of(block) - birth + 1;
    if (length <= 0) return kTransient;
    if (length > period_ops_) return add_long_lived(b, (length + period_ops_ - 1) / period_ops_);
    if (block.born == block.freed && !uses(block.born, b)) return kTransient;
    const OpIndex first = birth % period_ops_, last = (birth + length - 1) % period_ops_;
    const Lifetime lifetime = last < first ? Lifetime::wrapping : Lifetime::local;
    return add_block({.bytes = block.bytes, .lifetime = lifetime, .birth = first, .death = last});
  }

  bool uses(std::size_t event, BlockId b) const {
    const auto accesses = trace_.accesses_of(event);
    return std::any_of(accesses.begin(), accesses.end(),
                       [b](const Access& access) { return access.block == b; });
  }

  BlockId add_block(const Block& block) {
    blocks_.push_back(block);
    return static_cast<BlockId>(blocks_.size() - 1);
  }

  BlockId add_long_lived(BlockId b, OpIndex copies) {
    unmanaged_ += history(b).bytes * copies;
    return kLongLived;
  }

  void add_event(std::size_t i) {
    Bytes inside = 0, peak_inside = 0, births = 0;
    for (const MemoryEvent& memory : trace_.memory_of(i)) {
      if (!memory.is_malloc) {
        if (history(memory.block).born == i) inside -= history(memory.block).bytes;
        continue;
      }
      inside += memory.bytes;
      peak_inside = std::max(peak_inside, inside);
      const BlockId id = program_id(memory.block);
      if (id >= 0) op_at(i).births.push_back(id);
      const bool in_op = trace_.events[i].kind == EventKind::exec;
      script_[op_of(i)].mallocs.push_back({.bytes = memory.bytes, .block = id, .inside = in_op});
      if (id != kTransient) births += memory.bytes;
    }
    if (trace_.events[i].kind == EventKind::exec) add_exec(i, peak_inside - births);
  }

  void add_exec(std::size_t i, Bytes inner_workspace) {
    Op& op = op_at(i);
    const TraceEvent& event = trace_.events[i];
    op.name = trace_.names[event.name];
    op.phase = event.phase;
    op.replayable = event.replayable;
    op.random = event.random;
    op.workspace = std::max(Bytes{0}, inner_workspace);
    AccessList accesses;
    for (const Access& access : trace_.accesses_of(i)) {
      const BlockId id = program_id(access.block);
      if (history(access.block).born != i)
        script_[op_of(i)].operands.push_back({.block = id,
                                              .bytes = history(access.block).bytes,
                                              .reads = access.reads,
                                              .writes = access.writes,
                                              .side_effect = access.side_effect});
      if (id < 0) {
        op.replayable = false;
        continue;
      }
      Access& merged = accesses.of(id);
      merged.reads |= access.reads;
      merged.writes |= access.writes;
      merged.side_effect |= access.side_effect;
    }
    op.accesses = accesses.take();
  }

  void add_times() {
    std::size_t first_exec = run_.begin;
    while (trace_.events[first_exec].kind != EventKind::exec) ++first_exec;
    std::vector<Nanoseconds> steps;
    for (std::size_t i = first_exec + run_.period; i < run_.end; i += run_.period)
      steps.push_back(trace_.events[i].issue - trace_.events[i - run_.period].issue);
    step_ = std::max(Nanoseconds{0}, median(steps));
    for (std::size_t i = first_exec; i < run_.begin + run_.period; ++i) {
      if (trace_.events[i].kind != EventKind::exec) continue;
      std::vector<Nanoseconds> durations, issues;
      Op& op = op_at(i);
      for (std::size_t k = i, first = first_exec; k < run_.end; k += run_.period, first += run_.period) {
        if (trace_.events[k].duration > 0) durations.push_back(trace_.events[k].duration);
        issues.push_back(trace_.events[k].issue - trace_.events[first].issue);
        op.workspace = std::max(op.workspace, trace_.events[k].workspace);
      }
      op.duration = median(durations);
      op.issue = std::max(Nanoseconds{0}, median(issues));
    }
  }

  // There all through the run, but no op names them.
  void add_idle_blocks() {
    unmanaged_ += trace_.unmanaged;
    for (std::size_t b = 0; b < histories_.size(); ++b)
      if (histories_[b].born != kNever && program_ids_[b] == kNone && is_persistent(static_cast<BlockId>(b)))
        unmanaged_ += histories_[b].bytes;
  }

  const Trace& trace_;
  const std::vector<BlockHistory>& histories_;
  const Detection& run_;
  std::vector<OpIndex> ops_before_;  // execs of the run before each of its events
  OpIndex op_count_ = 0;
  OpIndex period_ops_ = 0;
  std::vector<BlockId> program_ids_;  // of representatives
  std::vector<Op> ops_;
  std::vector<ScriptOp> script_;  // by op
  std::vector<Block> blocks_;
  Bytes unmanaged_ = 0;
  Nanoseconds step_ = 0;
};

}  // namespace

Program extract_iteration(const Trace& trace, const std::vector<BlockHistory>& blocks,
                          const Detection& detection) {
  return extract_script(trace, blocks, detection).program;
}

ScriptedIteration extract_script(const Trace& trace, const std::vector<BlockHistory>& blocks,
                                 const Detection& detection) {
  Extractor extractor(trace, blocks, detection);
  const Program program = extractor.extract();
  std::vector<ScriptOp> script = extractor.take_script();
  const OpIndex first = least_load_boundary(program);
  std::rotate(script.begin(), script.begin() + first, script.end());
  const Program rotated = rotate(program, first);
  const std::vector<BlockId> numbers = numbers_in_order(rotated);
  const auto renumber = [&](BlockId& block) {
    if (block >= 0) block = numbers[static_cast<std::size_t>(block)];
  };
  for (ScriptOp& op : script) {
    for (ScriptMalloc& malloc : op.mallocs) renumber(malloc.block);
    for (ScriptOperand& operand : op.operands) renumber(operand.block);
  }
  return {renumbered(rotated, numbers), std::move(script)};
}

Program iteration_of(const Trace& trace, const std::string& place, const DetectOptions& options) {
  const std::vector<BlockHistory> blocks = block_histories(trace, place);
  const Detection detection = detect_iteration(trace, blocks, options);
  if (detection.status != DetectStatus::found)
    throw InputError(fmt::format(
        "{}: no iteration found in {} events: {}", place, trace.events.size(),
        detection.status == DetectStatus::not_yet ? "not enough repeats yet" : "they are not periodic"));
  try {
    return extract_iteration(trace, blocks, detection);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  }
}

}  // namespace ebb
