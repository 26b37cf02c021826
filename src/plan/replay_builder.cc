#include "plan/replay_builder.h"

#include <algorithm>

namespace ebb {

ReplayBuilder::ReplayBuilder(const Program& program)
    : program_(program),
      made_in_(program.versions().size(), 0),
      kept_(program.versions().size(), 0),
      op_in_(program.ops().size(), 0),
      return_in_(program.blocks().size(), 0),
      last_reader_(program.versions().size(), 0) {}

bool ReplayBuilder::collect(const Presence& presence, std::span<const VersionId> wanted) {
  ++round_;
  made_.clear();
  ops_.clear();
  returns_.clear();
  stack_.clear();
  for (VersionId v : wanted) {
    if (!require(presence, v)) return false;
    keep(v);
  }
  while (!stack_.empty()) {
    const OpIndex op = program_.version(stack_.back()).writer;
    stack_.pop_back();
    auto& op_in = op_in_[static_cast<std::size_t>(op)];
    if (op_in == round_) continue;
    op_in = round_;
    ops_.push_back(op);
    for (VersionId input : program_.inputs(op))
      if (!require(presence, input)) return false;
  }
  sort_ops();
  return true;
}

// Many ops lie close together: then finding them again in order is quicker than sorting.
void ReplayBuilder::sort_ops() {
  constexpr std::size_t kFew = 16;
  if (ops_.size() > kFew) {
    const auto [first, last] = std::minmax_element(ops_.begin(), ops_.end());
    const OpIndex begin = *first, end = *last + 1;
    if (static_cast<std::size_t>(end - begin) < 8 * ops_.size()) {
      ops_.clear();
      for (OpIndex op = begin; op < end; ++op)
        if (op_in_[static_cast<std::size_t>(op)] == round_) ops_.push_back(op);
      return;
    }
  }
  std::sort(ops_.begin(), ops_.end());
}

bool ReplayBuilder::require(const Presence& presence, VersionId v) {
  const Version& version = program_.version(v);
  const auto b = static_cast<std::size_t>(version.block);
  if (is_made(v)) return true;
  if (presence.current[b] == v) {
    if (presence.where[b] == Whereabouts::resident) return true;
    if (presence.where[b] == Whereabouts::on_host) {
      if (return_in_[b] != round_) returns_.push_back(version.block);
      return_in_[b] = round_;
      return true;
    }
  }
  if (version.writer < 0 || !program_.op(version.writer).replayable) {
    missing_ = v;
    return false;
  }
  made_in_[static_cast<std::size_t>(v)] = round_;
  made_.push_back(v);
  stack_.push_back(v);
  return true;
}

void ReplayBuilder::build_steps(OpIndex before) {
  steps_.clear();
  usage_.clear();
  for (std::size_t k = 0; k < ops_.size(); ++k) {
    for (const OpOutput& output : program_.outputs(ops_[k]))
      last_reader_[static_cast<std::size_t>(output.version)] = k;
    for (VersionId input : program_.inputs(ops_[k]))
      if (is_made(input)) last_reader_[static_cast<std::size_t>(input)] = k;
  }
  Bytes temporaries = 0;
  for (std::size_t k = 0; k < ops_.size(); ++k) {
    const auto outputs = program_.outputs(ops_[k]);
    ReplayStep step{.before = before, .op = ops_[k]};
    auto bytes = [&](VersionId v) { return program_.block(program_.version(v).block).bytes; };
    for (const OpOutput& output : outputs) {
      if (output.replaces < 0) step.allocates += bytes(output.version);
      const bool used = is_made(output.version) && last_reader_[static_cast<std::size_t>(output.version)] > k;
      if (!used && !kept(output.version)) step.frees += bytes(output.version);
    }
    for (VersionId input : program_.inputs(ops_[k])) {
      const bool ends = is_made(input) && !kept(input) && last_reader_[static_cast<std::size_t>(input)] == k;
      const bool transformed =
          std::any_of(outputs.begin(), outputs.end(), [&](const OpOutput& o) { return o.replaces == input; });
      if (ends && !transformed) step.frees += bytes(input);
    }
    usage_.push_back(temporaries + step.allocates + program_.op(ops_[k]).workspace);
    temporaries += step.allocates - step.frees;
    steps_.push_back(step);
  }
}

void ReplayBuilder::keep_in_steps(VersionId v) {
  keep(v);
  const Bytes bytes = program_.block(program_.version(v).block).bytes;
  steps_[last_reader(v)].frees -= bytes;
  for (std::size_t k = last_reader(v) + 1; k < usage_.size(); ++k) usage_[k] += bytes;
}

}  // namespace ebb
