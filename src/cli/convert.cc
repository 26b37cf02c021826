#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/output_file.h"
#include "cli/trace_options.h"
#include "trace/trace_file.h"
#include "trace/unroll.h"

namespace ebb::cli {
namespace {

struct ConvertRequest {
  TraceOptions trace;
  std::string output;
  int iterations = 3;
  bool json = false;
};

Answer run(const ConvertRequest& options) {
  require_writable(options.output, {options.trace.path});
  const Trace trace = unroll(load(options.trace), options.iterations);
  write_trace(options.output, trace);
  if (options.json)
    return {.text = print({{"trace", options.trace.path},
                           {"output", options.output},
                           {"iterations", options.iterations},
                           {"events", trace.events.size()}})};
  return {.text = fmt::format("{}: {} iterations, {} events\n", options.output, options.iterations,
                              trace.events.size())};
}

}  // namespace

Command add_convert(CLI::App& tool) {
  auto options = std::make_shared<ConvertRequest>();
  CLI::App* command =
      tool.add_subcommand("convert", "Write a training step as an Ebb trace, as a runtime would record it");
  add_trace(*command, options->trace);
  command->add_option("OUTPUT", options->output, "The Ebb trace")->required()->type_name("FILE");
  command->add_option("--iterations", options->iterations, "How often the step is repeated in it")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--json", options->json, "JSON instead of a sentence");
  command->footer("Example: ebb convert data/unet.json.gz unet.ebbtrace");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
