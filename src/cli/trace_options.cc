#include "cli/trace_options.h"

#include <filesystem>

#include "machine/units.h"
#include "trace/load.h"

namespace ebb::cli {

void add_trace(CLI::App& command, TraceOptions& options) {
  command.add_option("TRACE", options.path, "A training step: step trace, op graph or Ebb trace")
      ->required()
      ->type_name("FILE");
  add_trace_rules(command, options);
}

void add_trace_rules(CLI::App& command, TraceOptions& options) {
  command.add_flag("--with-unmanaged", options.with_unmanaged,
                   "Count what the allocator held beyond the recorded blocks");
  command.add_option("--smallest-managed", options.smallest_managed, "Smaller blocks never move")
      ->type_name("SIZE")
      ->capture_default_str();
}

Program load(const TraceOptions& options) {
  return load_program(options.path, {.with_unmanaged = options.with_unmanaged,
                                     .smallest_managed = parse_bytes(options.smallest_managed)});
}

std::string short_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* ending : {".gz", ".json", ".csv", ".ebbtrace", ".trace"})
    if (name.ends_with(ending) && name.size() > std::string_view(ending).size())
      name.resize(name.size() - std::string_view(ending).size());
  return name;
}

}  // namespace ebb::cli
