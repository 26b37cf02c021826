#include "trace/load.h"

#include <fmt/format.h>

#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/import_graph.h"
#include "trace/import_step.h"
#include "trace/iteration.h"
#include "trace/json_records.h"
#include "trace/trace_file.h"

namespace ebb {
namespace {

enum class JsonKind { unknown, step, graph };

JsonKind sniff(std::string_view json, const std::string& file) {
  JsonKind kind = JsonKind::unknown;
  read_json_records(json, file, [&kind](const JsonRecord& record) {
    const bool op = record.member() == "ops";
    if (record.member() == "blocks" || (op && record.has("us"))) kind = JsonKind::step;
    if (record.member() == "tensors" || (op && record.has("ns"))) kind = JsonKind::graph;
    return kind == JsonKind::unknown;
  });
  return kind;
}

Program import_json(std::string_view json, const std::string& file, const LoadOptions& options) {
  switch (sniff(json, file)) {
    case JsonKind::step:
      return import_step(json, file, {.with_unmanaged = options.with_unmanaged});
    case JsonKind::graph:
      return import_graph(json, file);
    case JsonKind::unknown:
      break;
  }
  throw InputError(
      fmt::format("{}: neither a step trace (\"ops\" and \"blocks\") nor an op graph (\"ops\" and "
                  "\"tensors\")",
                  file));
}

}  // namespace

Program load_program(const std::string& path, const LoadOptions& options) {
  const std::string content = read_maybe_gzipped(path);
  Program program =
      content.starts_with(kTraceMagic)
          ? iteration_of(decode_trace(content, path, {.accept_torn_end = options.accept_torn_end}), path,
                         options.detect)
          : import_json(content, path, options);
  if (options.smallest_managed == program.info().smallest_managed) return program;
  ProgramInfo info = program.info();
  info.smallest_managed = options.smallest_managed;
  return Program::build(std::move(info), program.ops(), program.blocks());
}

}  // namespace ebb
