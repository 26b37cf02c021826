#include "trace/batch_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/json_records.h"
#include "trace/trace_file.h"

namespace ebb {
namespace {

void check_same_step(const Program& one, const Program& other) {
  if (one.op_count() != other.op_count() || one.block_count() != other.block_count())
    throw InputError(fmt::format("the two are not one model: {} and {} ops, {} and {} blocks", one.op_count(),
                                 other.op_count(), one.block_count(), other.block_count()));
  for (OpIndex i = 0; i < one.op_count(); ++i) {
    const Op& a = one.op(i);
    const Op& b = other.op(i);
    if (a.name != b.name || a.accesses != b.accesses || a.births != b.births)
      throw InputError(fmt::format("the two are not one model: op {} is '{}' in one and '{}' in the other{}",
                                   i, a.name, b.name, a.name == b.name ? ", with other operands" : ""));
  }
  for (BlockId b = 0; b < one.block_count(); ++b) {
    const Block& a = one.block(b);
    const Block& c = other.block(b);
    if (a.lifetime != c.lifetime || a.birth != c.birth || a.death != c.death)
      throw InputError(fmt::format("the two are not one model: block {} lives differently", b));
  }
}

}  // namespace

std::int64_t recorded_batch(const std::string& path) {
  const std::string content = read_maybe_gzipped(path);
  std::int64_t batch = 0;
  if (content.starts_with(kTraceMagic)) return batch;
  read_json_records(content, path, [&batch](const JsonRecord& record) {
    const bool meta = record.member() == "meta";
    if (meta && record.has("batch")) batch = record.integer("batch", 1, std::int64_t{1} << 40);
    return !meta;
  });
  return batch;
}

BatchModel::BatchModel(Program one, std::int64_t batch_of_one, Program other, std::int64_t batch_of_other)
    : small_(std::move(one)),
      large_(std::move(other)),
      small_batch_(batch_of_one),
      large_batch_(batch_of_other) {
  if (small_batch_ < 1 || large_batch_ < 1 || small_batch_ == large_batch_)
    throw InputError(
        fmt::format("two different batch sizes are needed, not {} and {}", small_batch_, large_batch_));
  check_same_step(small_, large_);
  if (small_batch_ < large_batch_) return;
  std::swap(small_, large_);
  std::swap(small_batch_, large_batch_);
}

std::int64_t BatchModel::between(std::int64_t small, std::int64_t large, std::int64_t batch) const {
  if (small == large || (large < small && batch > large_batch_)) return large;
  const double slope = static_cast<double>(large - small) / static_cast<double>(large_batch_ - small_batch_);
  const double value = static_cast<double>(small) + slope * static_cast<double>(batch - small_batch_);
  return std::max(std::int64_t{0}, static_cast<std::int64_t>(std::ceil(value)));
}

Program BatchModel::at(std::int64_t batch) const {
  ProgramInfo info = small_.info();
  info.unmanaged = between(info.unmanaged, large_.info().unmanaged, batch);
  info.measured_step = between(info.measured_step, large_.info().measured_step, batch);
  std::vector<Op> ops = small_.ops();
  for (OpIndex i = 0; i < small_.op_count(); ++i) {
    Op& op = ops[static_cast<std::size_t>(i)];
    op.duration = between(op.duration, large_.op(i).duration, batch);
    op.issue = between(op.issue, large_.op(i).issue, batch);
    op.workspace = between(op.workspace, large_.op(i).workspace, batch);
  }
  std::vector<Block> blocks = small_.blocks();
  for (BlockId b = 0; b < small_.block_count(); ++b)
    blocks[static_cast<std::size_t>(b)].bytes = between(small_.block(b).bytes, large_.block(b).bytes, batch);
  return Program::build(std::move(info), std::move(ops), std::move(blocks));
}

}  // namespace ebb
