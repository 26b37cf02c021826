#include "trace/generate.h"

#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/output_file.h"
#include "machine/presets.h"
#include "machine/units.h"
#include "trace/export_step.h"
#include "trace/gzip.h"
#include "trace/write_file.h"

namespace ebb::cli {
namespace {

struct GenerateRequest {
  ResNetConfig resnet;
  LstmConfig lstm;
  std::string machine = "titanx";
  std::string output;
  bool json = false;
};

void add_number(CLI::App& command, const char* name, int& value, const char* meaning) {
  command.add_option(name, value, meaning)->type_name("N")->capture_default_str();
}

Answer write(const GenerateRequest& options, const Program& program) {
  const std::string text = export_step(program);
  write_file_atomically(options.output, options.output.ends_with(".gz") ? gzip(text) : text);
  if (options.json)
    return {.text = print({{"output", options.output},
                           {"program", program.info().name},
                           {"ops", program.op_count()},
                           {"blocks", program.block_count()},
                           {"peak_demand_bytes", program.peak_demand()},
                           {"compute_ns", program.compute_time()}})};
  return {.text = fmt::format("{}: {}, {} ops, peak {}, {} on {}\n", options.output, program.info().name,
                              program.op_count(), format_bytes(program.peak_demand()),
                              format_time(program.compute_time()), options.machine)};
}

Answer run(const GenerateRequest& options, bool is_resnet) {
  require_writable(options.output);
  const Machine& machine = find_preset(options.machine);
  const Speed speed{machine.teraflops * 1e12, machine.memory_gb_per_s * 1e9};
  return write(options,
               is_resnet ? generate_resnet(options.resnet, speed) : generate_lstm(options.lstm, speed));
}

void add_output(CLI::App& command, GenerateRequest& options) {
  command.add_option("-m,--machine", options.machine, "A machine of `ebb machines`: its rates give op times")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("-o,--output", options.output, "The step trace; gzip'd if it ends in .gz")
      ->required()
      ->type_name("FILE");
  command.add_flag("--json", options.json, "JSON instead of a sentence");
}

}  // namespace

Command add_generate(CLI::App& tool) {
  auto options = std::make_shared<GenerateRequest>();
  CLI::App* command =
      tool.add_subcommand("generate", "Write the training step of a network of any depth or length");
  CLI::App* resnet = command->add_subcommand("resnet", "A residual network of bottlenecks");
  add_number(*resnet, "--depth", options->resnet.depth, "Convolutions, rounded to whole bottlenecks");
  add_number(*resnet, "--batch", options->resnet.batch, "Images in a batch");
  add_number(*resnet, "--image", options->resnet.image, "Their height and width");
  add_number(*resnet, "--classes", options->resnet.classes, "Classes");
  add_output(*resnet, *options);
  CLI::App* lstm = command->add_subcommand("lstm", "A recurrent network, unrolled");
  add_number(*lstm, "--steps", options->lstm.steps, "How far it is unrolled");
  add_number(*lstm, "--layers", options->lstm.layers, "Layers");
  add_number(*lstm, "--hidden", options->lstm.hidden, "Width of a layer");
  add_number(*lstm, "--batch", options->lstm.batch, "Sequences in a batch");
  add_number(*lstm, "--inputs", options->lstm.inputs, "Numbers per step");
  add_number(*lstm, "--classes", options->lstm.classes, "Classes");
  add_output(*lstm, *options);
  command->require_subcommand(1);
  command->footer("Example: ebb generate resnet --depth 1000 --batch 32 -o resnet1000.json.gz");
  return {command, [options, resnet] { return run(*options, resnet->parsed()); }};
}

}  // namespace ebb::cli
