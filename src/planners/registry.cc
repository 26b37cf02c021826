#include <fmt/format.h>

#include "planners/families.h"
#include "trace/error.h"

namespace ebb {
namespace {

std::vector<Planner> all_families() {
  std::vector<Planner> all;
  for (const std::span<const Planner> family : {
           basic_planners(),
           recompute_planners(),
           chain_planners(),
           swap_planners(),
           ebb_planners(),
           mixed_planners(),
       })
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

// Lives for ever: a program may end while a thread plans.
std::vector<Planner>& list() {
  static auto& all = *new std::vector<Planner>(all_families());
  return all;
}

template <typename Named>
std::string names_of(const Named& entries) {
  std::string names;
  for (const auto& entry : entries) names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  return names;
}

}  // namespace

std::span<const Planner> planners() { return list(); }

void register_planner(const Planner& planner) { list().push_back(planner); }

const Planner& find_planner(std::string_view name) {
  for (const Planner& planner : planners())
    if (planner.name == name) return planner;
  throw InputError(fmt::format("there is no planner '{}'; the planners are: {}", name, names_of(planners())));
}

double value_of(const Setting& setting, const PlannerOptions& options) {
  const auto given = options.settings.find(setting.name);
  return given == options.settings.end() ? setting.value : given->second;
}

void check_settings(const Planner& planner, const PlannerOptions& options) {
  for (const auto& [name, value] : options.settings) {
    bool known = false;
    for (const Setting& setting : planner.settings) known = known || setting.name == name;
    if (known) continue;
    throw InputError(planner.settings.empty()
                         ? fmt::format("planner '{}' has no settings, so none named '{}'", planner.name, name)
                         : fmt::format("planner '{}' has no setting '{}'; it has: {}", planner.name, name,
                                       names_of(planner.settings)));
  }
}

}  // namespace ebb
