#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/launch.h"
#include "cli/output_file.h"

namespace ebb::cli {
namespace {

struct RecordRequest {
  std::string output = "trace.ebb";
  std::string device;
  std::vector<std::string> program;
};

Answer run(const RecordRequest& options) {
  require_writable(options.output);
  // Absolute, as the program may change its folder.
  Handover handover{{"EBB_RECORD", std::filesystem::absolute(options.output).string()}};
  if (!options.device.empty()) handover.emplace_back("EBB_DEVICE", options.device);
  become(options.program, handover);
}

}  // namespace

Command add_record(CLI::App& tool) {
  auto options = std::make_shared<RecordRequest>();
  CLI::App* command =
      tool.add_subcommand("record", "Run a PyTorch program, unchanged, and record its ops and blocks");
  command->add_option("-o,--output", options->output, "The trace, written when the program ends")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--device", options->device, "Default: cuda if there is one, else cpu")
      ->check(CLI::IsMember({"cuda", "cpu"}).description(""))
      ->type_name("cuda|cpu");
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --")
      ->required()
      ->expected(1, -1)
      ->type_name("");
  command->footer(
      "The program's exit code is passed on. A few iterations are enough; ebb inspect reads the file.\n"
      "Example: ebb record -o train.ebb -- python3 train.py --steps 5");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
