// Which training step a command is about.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "trace/program.h"

namespace ebb::cli {

struct TraceOptions {
  std::string path;
  bool with_unmanaged = false;
  std::string smallest_managed = "64KiB";
};

// TRACE as the first operand, and the options below.
void add_trace(CLI::App& command, TraceOptions& options);
// --with-unmanaged and --smallest-managed alone, for commands that take several traces.
void add_trace_rules(CLI::App& command, TraceOptions& options);

Program load(const TraceOptions& options);

// The file's name without folder and endings: "resnet50" for data/resnet50.json.gz.
std::string short_name(const std::string& path);

}  // namespace ebb::cli
