#include "cli/tool.h"

#include <fmt/format.h>

#include <sstream>

#include "trace/error.h"

namespace ebb::cli {
namespace {

constexpr const char* kFooter = R"(Limits:      8GiB, 512MB, or a share of the program's peak demand: 50%
Exit codes:  0 done; 1 does not fit: no such plan, or the plan breaks the limit;
             2 bad command line or bad input; 3 a file cannot be read or written, or a defect of Ebb

Programs:    ebb run and ebb record pass on the exit code of the program they run

Example:     ebb inspect data/resnet50.json.gz
             ebb plan data/resnet50.json.gz --limit 50% -o plan.json
             ebb COMMAND --help has an example for each command)";

// The options whose help was asked for: the innermost command on the line.
const CLI::App* chosen(const CLI::App* app) {
  for (const CLI::App* inner : app->get_subcommands()) return chosen(inner);
  return app;
}

std::string line_of(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

Tool::Tool()
    : app_(
          "Plans the memory of deep-learning training: what leaves the device, when it is back, at what "
          "cost.",
          "ebb") {
  app_.set_version_flag("--version", "ebb " EBB_VERSION, "Print the version and exit");
  app_.set_help_flag("-h,--help", "Print this help and exit");
  app_.footer(kFooter);
  app_.get_formatter()->column_width(34);
  for (auto add : {add_inspect, add_plan, add_simulate, add_bound, add_compare, add_report, add_batch,
                   add_machines, add_planners, add_pack, add_convert, add_generate, add_run, add_record})
    commands_.push_back(add(app_));
}

Answer Tool::run(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return {.text = fmt::format("{}\n", version.what())};
  } catch (const CLI::Success&) {
    return {.text = app_.help()};
  } catch (const CLI::ParseError& error) {
    const CLI::App* command = chosen(&app_);
    if (command == &app_ && argc > 1 && argv[1][0] != '-')
      throw InputError(fmt::format("there is no command '{}' (see ebb --help)", argv[1]));
    const std::string name = command == &app_ ? "ebb" : "ebb " + command->get_name();
    throw InputError(fmt::format("{} (see {} --help)", line_of(error.what()), name));
  }
  for (const Command& command : commands_)
    if (command.options->parsed()) return command.run();
  throw InputError("no command was given (see ebb --help)");
}

}  // namespace ebb::cli
