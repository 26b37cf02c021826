#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/table.h"
#include "planners/planner.h"

namespace ebb::cli {
namespace {

std::string settings_table() {
  Table table;
  for (const char* header : {"planner", "setting"}) table.column(header, Align::left);
  table.column("default");
  table.column("what it means", Align::left);
  bool any = false;
  for (const Planner& planner : planners())
    for (const Setting& setting : planner.settings) {
      table.row({std::string(planner.name), std::string(setting.name), fmt::format("{:g}", setting.value),
                 std::string(setting.meaning)});
      any = true;
    }
  return any ? "\nSettings, changed with --tune NAME=VALUE:\n\n" + table.text() : "";
}

// Planners that need what was not there when Ebb was configured.
std::string missing_planners() {
  const bool learns = std::any_of(planners().begin(), planners().end(),
                                  [](const Planner& planner) { return planner.name == "dqn"; });
  return learns ? "" : "\nNot built: dqn, which needs libtorch when Ebb is configured.\n";
}

std::string list_as_table() {
  Table table;
  for (const char* header : {"planner", "from", "what it does"}) table.column(header, Align::left);
  for (const Planner& planner : planners())
    table.row({std::string(planner.name), std::string(planner.source), std::string(planner.summary)});
  return table.text() + missing_planners() + settings_table();
}

std::string list_as_json() {
  Json all = Json::array();
  for (const Planner& planner : planners()) {
    Json settings = Json::array();
    for (const Setting& setting : planner.settings)
      settings.push_back({{"name", setting.name}, {"default", setting.value}, {"meaning", setting.meaning}});
    all.push_back({{"name", planner.name},
                   {"source", planner.source},
                   {"summary", planner.summary},
                   {"settings", std::move(settings)}});
  }
  return print(all);
}

}  // namespace

Command add_planners(CLI::App& tool) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = tool.add_subcommand("planners", "List the planners");
  command->add_flag("--json", *json, "JSON instead of a table");
  command->footer("Example: ebb planners");
  return {command, [json]() -> Answer { return {.text = *json ? list_as_json() : list_as_table()}; }};
}

}  // namespace ebb::cli
