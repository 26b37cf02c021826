// [HOME] table 3 and fig. 8: how long the search takes, per evaluation too, and how it converges. The batch
// is 1.43 times the largest that fits as it is. Usage: paper_home_search [FOLDER for the SVGs] [NETWORK…]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "home_inputs.h"
#include "line_chart.h"

namespace {

using namespace ebb;
using namespace ebb::papers;

constexpr int kThreads = 2;

struct Search {
  const char* what;
  PlannerOptions options;
};

PlannerOptions with(std::map<std::string, double, std::less<>> settings, std::int64_t evaluations = 0) {
  return {.evaluations = evaluations, .threads = kThreads, .settings = std::move(settings)};
}

const Search kSearches[] = {
    {"500 x 500 as printed", with({{"particles", 500}, {"iterations", 500}, {"scatter", 0}, {"budget", 0}})},
    {"500 x 500 evaluations", with({{"particles", 500}, {"iterations", 1e9}}, 250'000)},
    {"default", with({})},
};

double milliseconds(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

void draw(const HomeNetwork& network, std::int64_t batch, const JudgedPlan& judged,
          const std::string& folder) {
  LineChart chart{.title = fmt::format("[HOME] fig. 8: {} at batch {}", network.name, batch),
                  .x_label = "iteration",
                  .y_label = "step time, ms",
                  .lines = {{.name = "worst", .points = {}},
                            {.name = "average", .points = {}},
                            {.name = "best", .points = {}}}};
  for (std::size_t i = 0; i < std::min<std::size_t>(judged.rounds.size(), 101); ++i) {
    const SearchRound& round = judged.rounds[i];
    if (round.worst == 0) continue;
    const Nanoseconds times[] = {round.worst, round.mean, round.best};
    for (std::size_t k = 0; k < 3; ++k)
      chart.lines[k].points.push_back({static_cast<double>(i), milliseconds(times[k])});
  }
  if (!chart.lines[2].points.empty()) chart.y_from = 0.95 * chart.lines[2].points.back().y;
  write_chart(folder + "/home-fig8-" + network.name + ".svg", chart);
}

void print_search(const HomeNetwork& network, std::int64_t batch, const Search& search,
                  const std::string& folder) {
  const std::clock_t cpu = std::clock();
  const auto judged = plan_at(network, batch, "home", search.options);
  const double seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  if (!judged) {
    fmt::print("{:<10}{:>6}  {:<24} finds no plan\n", network.name, batch, search.what);
    return;
  }
  double printed = 0, simulated = 0;
  for (const Finding& finding : judged->findings) {
    if (finding.name.starts_with("evaluations")) printed = finding.value;
    if (finding.name == "simulations") simulated = finding.value;
  }
  std::size_t near = 0;
  while (near < judged->rounds.size() &&
         (judged->rounds[near].best == 0 || static_cast<double>(judged->rounds[near].best) >
                                                1.01 * static_cast<double>(judged->rounds.back().best)))
    ++near;
  fmt::print("{:<10}{:>6}  {:<24}{:>9.1f}{:>9.1f}{:>11}{:>11.0f}{:>12.0f}{:>9.4f}{:>10.2f}{:>8}\n",
             network.name, batch, search.what, seconds, judged->planning_seconds, judged->evaluations,
             simulated, printed, 1e3 * seconds / simulated, milliseconds(judged->step.step_time), near);
  if (&search == &kSearches[0] && !folder.empty()) draw(network, batch, *judged, folder);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + std::min(argc, 2), argv + argc);
  fmt::print("[HOME] table 3 and fig. 8, {} threads; near: iterations to within 1 % of the end\n", kThreads);
  fmt::print("{:<10}{:>6}  {:<24}{:>9}{:>9}{:>11}{:>11}{:>12}{:>9}{:>10}{:>8}\n", "network", "batch",
             "search", "CPU s", "wall s", "judged", "simulated", "as printed", "ms each", "step ms", "near");
  for (const HomeNetwork& network : load_home_networks()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), network.name) == wanted.end()) continue;
    const std::int64_t batch = tight_batch(network);
    for (const Search& search : kSearches) print_search(network, batch, search, argc > 1 ? argv[1] : "");
    fmt::print("{:<10}{:>6}  {:<24}{:>9}{:>9.0f}{:>11}{:>11}{:>12}{:>9.1f}\n", network.name, "",
               "the paper, 16 threads", "", network.published.search_seconds, "", "", 250'000,
               network.published.evaluation_ms);
  }
}
