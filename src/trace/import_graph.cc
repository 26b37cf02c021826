#include "trace/import_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "trace/access_list.h"
#include "trace/error.h"
#include "trace/json_records.h"

namespace ebb {
namespace {

struct GraphTensor {
  Bytes bytes = 0;
  bool constant = false;
  bool end_live = false;
  OpIndex released = kNoOp;
  // Seen from the ops:
  OpIndex first_use = kNoOp;
  OpIndex last_use = kNoOp;
  bool made_by_first_use = false;
};

struct Graph {
  std::vector<Op> ops;
  std::vector<GraphTensor> tensors;
};

void expect_id(const JsonRecord& record) {
  if (record.has("id") && record.integer("id", 0, kLastIndex) != record.index())
    record.fail(fmt::format("\"id\" is {}, not its place in the list", record.integer("id", 0, kLastIndex)));
}

Op read_graph_op(const JsonRecord& record) {
  expect_id(record);
  Op op;
  op.name = record.text("name");
  op.duration = record.time("ns", 1);
  if (record.has("ws")) op.workspace = record.bytes("ws");
  AccessList accesses;
  for (BlockId tensor : record.ids("in")) accesses.read(tensor);
  for (BlockId tensor : record.ids("mutates")) {
    accesses.read(tensor);
    accesses.write(tensor);
  }
  for (BlockId tensor : record.ids("out")) accesses.write(tensor);
  op.accesses = accesses.take();
  return op;
}

GraphTensor read_tensor(const JsonRecord& record) {
  expect_id(record);
  GraphTensor tensor;
  tensor.bytes = record.bytes("bytes");
  tensor.constant = record.flag("const") || record.flag("global");
  tensor.end_live = record.flag("end_live");
  if (record.has("release_after_op"))
    tensor.released = static_cast<OpIndex>(record.integer("release_after_op", 0, kLastIndex));
  return tensor;
}

Graph read_graph(std::string_view json, const std::string& file) {
  Graph graph;
  read_json_records(json, file, [&](const JsonRecord& record) {
    if (record.index() < 0) return true;
    if (record.member() == "ops") graph.ops.push_back(read_graph_op(record));
    if (record.member() == "tensors") graph.tensors.push_back(read_tensor(record));
    return true;
  });
  if (graph.ops.empty()) throw InputError(fmt::format("{}: no \"ops\" in it", file));
  return graph;
}

void note_uses(Graph& graph, const std::string& file) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    for (const Access& access : graph.ops[i].accesses) {
      const auto id = static_cast<std::size_t>(access.block);
      if (id >= graph.tensors.size())
        throw InputError(fmt::format("{}: ops[{}] '{}' uses tensor {}, but there are {} tensors", file, i,
                                     graph.ops[i].name, access.block, graph.tensors.size()));
      GraphTensor& tensor = graph.tensors[id];
      if (tensor.first_use == kNoOp) {
        tensor.first_use = static_cast<OpIndex>(i);
        tensor.made_by_first_use = !access.reads;
      }
      tensor.last_use = static_cast<OpIndex>(i);
    }
  }
}

Block with_lifetime(const GraphTensor& tensor, OpIndex last_op) {
  if (tensor.constant || !tensor.made_by_first_use)
    return {.bytes = tensor.bytes, .lifetime = Lifetime::persistent};
  OpIndex death = tensor.last_use;
  if (tensor.released != kNoOp) death = tensor.released;
  // Still needed after the step: it crosses the boundary, so that no plan may drop it for nothing.
  if (tensor.end_live && tensor.first_use > 0)
    return {.bytes = tensor.bytes, .lifetime = Lifetime::wrapping, .birth = tensor.first_use, .death = 0};
  if (tensor.end_live) death = last_op;
  return {.bytes = tensor.bytes, .lifetime = Lifetime::local, .birth = tensor.first_use, .death = death};
}

}  // namespace

Program import_graph(std::string_view json, const std::string& file) {
  Graph graph = read_graph(json, file);
  note_uses(graph, file);
  std::vector<Block> blocks;
  for (const GraphTensor& tensor : graph.tensors)
    blocks.push_back(with_lifetime(tensor, static_cast<OpIndex>(graph.ops.size()) - 1));
  std::string name = std::filesystem::path(file).filename().string();
  name = name.substr(0, name.find('.'));
  try {
    return Program::build({.name = std::move(name)}, std::move(graph.ops), std::move(blocks));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace ebb
