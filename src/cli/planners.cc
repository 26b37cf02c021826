#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/table.h"
#include "planners/planner.h"

namespace ebb::cli {
namespace {

std::string list_as_table() {
  Table table;
  for (const char* header : {"planner", "from", "what it does"}) table.column(header, Align::left);
  for (const Planner& planner : planners())
    table.row({std::string(planner.name), std::string(planner.source), std::string(planner.summary)});
  return table.text();
}

std::string list_as_json() {
  Json all = Json::array();
  for (const Planner& planner : planners())
    all.push_back({{"name", planner.name}, {"source", planner.source}, {"summary", planner.summary}});
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
