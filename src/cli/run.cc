#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/launch.h"
#include "cli/output_file.h"
#include "machine/units.h"
#include "planners/planner.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

constexpr std::string_view kNoPlanner = "none";

struct RunRequest {
  std::string limit;
  std::string planner = "ebb";
  bool recompute = true;
  std::string host_limit;
  std::string device;
  std::string report;
  std::string plans;
  std::vector<std::string> program;
};

// The package checks sizes too, but a program may take long to import torch.
void check_size(const std::string& text, bool share_allowed) {
  if (share_allowed && text.ends_with('%'))
    parse_number(std::string_view(text).substr(0, text.size() - 1));
  else
    parse_bytes(text);
}

Answer run(const RunRequest& options) {
  check_size(options.limit, true);
  if (!options.host_limit.empty()) check_size(options.host_limit, false);
  if (options.planner != kNoPlanner) find_planner(options.planner);
  require_writable(options.report);
  if (!options.plans.empty() && options.planner == kNoPlanner)
    throw InputError("--plans keeps what a planner makes: with --planner none nobody does");
  Handover handover{{"EBB_LIMIT", options.limit},
                    {"EBB_PLANNER", options.planner},
                    {"EBB_RECOMPUTE", options.recompute ? "1" : "0"}};
  if (!options.host_limit.empty()) handover.emplace_back("EBB_HOST_LIMIT", options.host_limit);
  if (!options.device.empty()) handover.emplace_back("EBB_DEVICE", options.device);
  if (!options.report.empty()) handover.emplace_back("EBB_REPORT", options.report);
  if (!options.plans.empty())
    handover.emplace_back("EBB_PLANS", std::filesystem::absolute(options.plans).string());
  become(options.program, handover);
}

}  // namespace

Command add_run(CLI::App& tool) {
  auto options = std::make_shared<RunRequest>();
  CLI::App* command =
      tool.add_subcommand("run", "Run a PyTorch program, unchanged, within a limit of device memory");
  command
      ->add_option("-l,--limit", options->limit,
                   "8GiB, or a share: of the device's memory on CUDA, of the peak of the first iterations on "
                   "the CPU")
      ->required()
      ->type_name("SIZE|%");
  command
      ->add_option(
          "--planner", options->planner,
          "Whose plan is followed once the iteration repeats; none: things move on demand throughout")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_flag_callback(
      "--no-recompute", [options] { options->recompute = false; }, "Nothing is computed again");
  command->add_option("--host-limit", options->host_limit, "Host memory for what has left; default: no limit")
      ->type_name("SIZE");
  command->add_option("--device", options->device, "Default: cuda if there is one, else cpu")
      ->check(CLI::IsMember({"cuda", "cpu"}).description(""))
      ->type_name("cuda|cpu");
  command
      ->add_option("--report", options->report,
                   "When the program ends, write what was done: a page (.html) or JSON")
      ->type_name("FILE");
  command
      ->add_option("--plans", options->plans,
                   "Keep plans there: a later run of the same training follows them at once")
      ->type_name("FOLDER");
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --")
      ->required()
      ->expected(1, -1)
      ->type_name("");
  command->footer(
      "The program needs no edit: Ebb starts when it imports torch. Its exit code is passed on; Ebb's own\n"
      "are 2 for a bad command line and 3 where it cannot start.\n"
      "Example: ebb run --limit 8GiB -- python3 train.py --epochs 10");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
