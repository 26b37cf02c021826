#include "trace/export_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

namespace ebb {
namespace {

constexpr int kOutlives = -2;  // the format's code for "not freed in the iteration"

std::string ids(const Op& op, bool Access::*kind) {
  std::string list;
  for (const Access& access : op.accesses)
    if (access.*kind) list += fmt::format("{}{}", list.empty() ? "" : ",", access.block);
  return list;
}

}  // namespace

std::string export_step(const Program& program) {
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string json = fmt::format("{{\"meta\":{{\"model\":{}}},\n\"ops\":[", quoted(program.info().name));
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    const Op& op = program.op(i);
    assert(op.replayable && op.issue == 0 && "a step trace cannot say that");
    json += fmt::format("{}\n{{\"n\":{},\"p\":\"{}\",\"us\":{}.{:03},\"x\":{},\"r\":[{}],\"w\":[{}]{}}}",
                        i == 0 ? "" : ",", quoted(op.name), static_cast<char>(op.phase), op.duration / 1000,
                        op.duration % 1000, program.birth_bytes(i) + op.workspace, ids(op, &Access::reads),
                        ids(op, &Access::writes), op.random ? ",\"rng\":1" : "");
  }
  json += "],\n\"blocks\":[";
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const Block& block = program.block(b);
    assert(block.lifetime != Lifetime::wrapping && "a step trace cannot say when a gradient is freed");
    const bool stays = block.lifetime == Lifetime::persistent;
    json += fmt::format("{}\n{{\"b\":{},\"a\":{},\"f\":{}}}", b == 0 ? "" : ",", block.bytes,
                        stays ? kNoOp : block.birth, stays ? kOutlives : block.death);
  }
  return json + "]}\n";
}

}  // namespace ebb
