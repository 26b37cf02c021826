// Every planner in every cell, seven recorded steps and five op graphs on three machines at 90 … 30 % of the
// peak: is ours ever worse than another, and how far is it from the bound?
//   planner_cells FILE run [only=TEXT] PLANNER…
//                                     fills FILE, for steps with TEXT in their path. others: all but ebb and
//                                     home; bound; PLANNER:N: with N simulations; ebb@E: with E times its
//                                     default effort; ebb/OTHER: in the time that OTHER took, which FILE
//                                     knows. All by load.
//   planner_cells FILE table          prints it
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "cell_book.h"
#include "machine/presets.h"
#include "plan/smallest_limit.h"
#include "planners/judge.h"
#include "simulate/bounds.h"
#include "trace/load.h"

namespace {

using namespace ebb;
using namespace ebb::cells;
namespace fs = std::filesystem;

constexpr std::array kSteps = {"traces/resnet50",          "traces/gpt2",         "traces/unet",
                               "traces/mobilenet_v2",      "traces/vgg16",        "traces/densenet121",
                               "graphs/dtr-resnet32",      "graphs/g10-VIT_1280", "graphs/dtr-transformer",
                               "graphs/g10-BERT_Base_256", "traces/lstm",         "graphs/dtr-lstm"};
constexpr std::array kMachines = {"h200", "v100-pcie3", "a100-15.75"};
constexpr std::array kPercents = {90, 80, 70, 60, 50, 40, 30};
constexpr double kBoundSeconds = 10;
constexpr double kTolerance = 0.005;  // of the other's step time

struct Contender {
  std::string name;
  PlannerOptions options;
  std::string in_time_of = {};  // another planner
  std::string label() const { return in_time_of.empty() ? name : name + "/" + in_time_of; }
};

std::vector<Contender> parse_contenders(int argc, char** argv) {
  std::vector<Contender> contenders;
  for (int i = 0; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t mark = std::min(text.find_first_of(":@/"), text.size());
    Contender contender{.name = text.substr(0, mark), .options = {}};
    if (mark < text.size() && text[mark] == ':')
      contender.options.evaluations = std::stoll(text.substr(mark + 1));
    if (mark < text.size() && text[mark] == '@')
      contender.options.settings["effort"] = std::stod(text.substr(mark + 1));
    if (mark < text.size() && text[mark] == '/')
      contender.in_time_of = find_planner(text.substr(mark + 1)).name;
    if (contender.name == "ebb") contender.options.settings["footprint"] = 0;
    if (contender.name != "others") {
      contenders.push_back(contender);
      continue;
    }
    for (const Planner& planner : planners())
      if (planner.name != "ebb" && planner.name != "home")
        contenders.push_back({std::string(planner.name), contender.options});
  }
  return contenders;
}

Entry measure(const PlanningProblem& problem, const Contender& contender) {
  const std::clock_t begin = std::clock();
  auto seconds = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  if (contender.name == kBound) {
    const Bounds found =
        bounds(problem.program, problem.gaps, problem.machine, problem.limit, {.lp_seconds = kBoundSeconds});
    const double ratio = found.ratio(found.best(PlanKind::any));
    return {std::isfinite(ratio) ? std::optional(ratio) : std::nullopt, seconds()};
  }
  std::vector<std::pair<double, Nanoseconds>> best;
  PlannerOptions options = contender.options;
  options.progress = [&](const PlanningProgress& progress) {
    if (progress.best > 0 && (best.empty() || progress.best < best.back().second))
      best.emplace_back(seconds(), progress.best);
  };
  const JudgedPlan judged = plan_and_judge(find_planner(contender.name), problem, options);
  if (judged.infeasible) return {std::nullopt, seconds()};
  if (!judged.violations.empty())
    throw std::logic_error(fmt::format("{}: {}", contender.name, judged.violations.front().sentence));
  Entry entry{.ratio = judged.step.ratio(), .cpu_seconds = seconds()};
  for (const auto& [when, step] : best)
    entry.moments.push_back({when, static_cast<double>(step) / static_cast<double>(judged.step.plain_time)});
  return entry;
}

void run(Book& book, const fs::path& data, const std::string& only,
         const std::vector<Contender>& contenders) {
  for (const char* step : kSteps) {
    if (std::string(step).find(only) == std::string::npos) continue;
    const Program program = load_program((data / (std::string(step) + ".json.gz")).string());
    const Gaps gaps(program);
    for (const int percent : kPercents)
      for (const char* machine_name : kMachines) {
        const Machine machine = find_preset(machine_name);
        const PlanningProblem problem{program, gaps, machine, program.peak_demand() / 100 * percent};
        if (problem.limit < largest_op_need(program).bytes) continue;
        const Cell cell{fs::path(step).filename().string(), machine_name, percent};
        for (Contender contender : contenders) {
          if (book.find(cell, contender.label())) continue;
          if (!contender.in_time_of.empty()) {
            const Entry* other = book.find(cell, contender.in_time_of);
            if (!other || !other->ratio) continue;
            contender.options.deadline_seconds = other->cpu_seconds;
          }
          book.add(cell, contender.label(), measure(problem, contender));
        }
      }
  }
}

// The best plan of the other planners.
struct Rival {
  std::string name = "-";
  double ratio = INFINITY;
  double cpu_seconds = 0;
};

bool is_rival(const std::string& name) { return name != kBound && !name.starts_with("ebb"); }

Rival best_rival(const std::map<std::string, Entry>& entries) {
  Rival rival;
  for (const auto& [name, entry] : entries)
    if (is_rival(name) && entry.ratio && *entry.ratio < rival.ratio)
      rival = {name, *entry.ratio, entry.cpu_seconds};
  return rival;
}

// What ours had after as much planning; infinite: nothing yet.
double best_after(const Entry& ours, double cpu_seconds) {
  if (ours.ratio && ours.cpu_seconds <= cpu_seconds) return *ours.ratio;
  double best = INFINITY;
  for (const Moment& moment : ours.moments)
    if (moment.cpu_seconds <= cpu_seconds) best = std::min(best, moment.ratio);
  return best;
}

// Ours against every other one when it has planned as long as that one did, by how long that was.
constexpr std::array kShorterThan = {0.01, 0.075, 0.2, double(INFINITY)};  // CPU seconds

struct SameTime {
  struct Duels {
    int all = 0, lost = 0, without_plan = 0;
  };
  std::array<Duels, kShorterThan.size()> by_time;
  double longest = 0;  // planning of another that ours lost to
  std::map<std::string, int> lost_to;

  void add(const Entry& ours, const std::map<std::string, Entry>& entries) {
    for (const auto& [name, entry] : entries) {
      if (!is_rival(name) || !entry.ratio) continue;
      const auto shorter = std::upper_bound(kShorterThan.begin(), kShorterThan.end(), entry.cpu_seconds);
      Duels& duels = by_time[static_cast<std::size_t>(shorter - kShorterThan.begin())];
      ++duels.all;
      const double had = best_after(ours, entry.cpu_seconds);
      if (had <= *entry.ratio * (1 + 1e-9)) continue;
      ++duels.lost;
      if (!std::isfinite(had)) ++duels.without_plan;
      ++lost_to[name];
      longest = std::max(longest, entry.cpu_seconds);
    }
  }

  void print() const {
    fmt::print(
        "\n| planning of the other, CPU s | duels | lost by ours | without a plan yet "
        "|\n|---|---:|---:|---:|\n");
    for (std::size_t k = 0; k < by_time.size(); ++k)
      fmt::print("| below {} | {} | {} | {} |\n", kShorterThan[k], by_time[k].all, by_time[k].lost,
                 by_time[k].without_plan);
    fmt::print("\nThe longest planning of another that ours lost to: {:.3f} CPU s.\n", longest);
    for (const auto& [name, count] : lost_to) fmt::print("  {} {}\n", name, count);
  }
};

// Ours in the time that another one took, against that one.
struct WithDeadline {
  struct Duels {
    int all = 0, lost = 0, by_more = 0;
    double most = 0;  // that was lost, relative
    double time = 0;  // of ours, all together, and of the other
    double time_of_other = 0;
  };
  std::map<std::string, Duels> against;

  void add(const std::map<std::string, Entry>& entries) {
    for (const auto& [name, entry] : entries) {
      constexpr std::string_view kOurs = "ebb/";
      const auto other = name.starts_with(kOurs) ? entries.find(name.substr(kOurs.size())) : entries.end();
      if (other == entries.end() || !other->second.ratio) continue;
      Duels& duels = against[other->first];
      const double relative = entry.ratio ? *entry.ratio / *other->second.ratio - 1 : INFINITY;
      ++duels.all;
      duels.lost += relative > 1e-9;
      duels.by_more += relative > kTolerance;
      duels.most = std::max(duels.most, relative);
      duels.time += entry.cpu_seconds;
      duels.time_of_other += other->second.cpu_seconds;
    }
  }

  void print() const {
    for (const auto& [name, duels] : against)
      fmt::print(
          "\nIn the time of {} ({:.1f} CPU s for {:.1f}): {} duels, {} lost, {} by more than {} %, {:.4f} % "
          "at most.\n",
          name, duels.time, duels.time_of_other, duels.all, duels.lost, duels.by_more, 100 * kTolerance,
          100 * duels.most);
  }
};

struct Tally {
  SameTime same_time;
  WithDeadline with_deadline;
  double first_plan = 0;  // longest until there was one
  int cells = 0, unserved = 0, worse = 0, much_worse = 0, without_bound = 0;
  double excess = 0, largest = 0, slowest = 0;
};

void print_cell(const Cell& cell, const std::map<std::string, Entry>& entries, Tally& tally) {
  const auto ours = entries.find("ebb");
  if (ours == entries.end()) return;
  const Rival rival = best_rival(entries);
  const auto bound = entries.find(kBound);
  ++tally.cells;
  tally.same_time.add(ours->second, entries);
  tally.with_deadline.add(entries);
  if (!ours->second.moments.empty())
    tally.first_plan = std::max(tally.first_plan, ours->second.moments.front().cpu_seconds);
  tally.slowest = std::max(tally.slowest, ours->second.cpu_seconds);
  const bool bounded = bound != entries.end() && bound->second.ratio;
  std::string verdict;
  if (!ours->second.ratio) {
    ++tally.unserved;
    verdict = std::isfinite(rival.ratio) ? "**no plan**" : "none has a plan";
  } else {
    const double relative = *ours->second.ratio / rival.ratio - 1;
    if (relative > 1e-9) ++tally.worse, verdict = fmt::format("worse by {:.2f} %", 100 * relative);
    if (relative > kTolerance) ++tally.much_worse, verdict = "**" + verdict + "**";
    if (bounded) {
      const double excess = 100 * (*ours->second.ratio - *bound->second.ratio);
      tally.excess += excess;
      tally.largest = std::max(tally.largest, excess);
    }
  }
  if (!bounded || !ours->second.ratio) ++tally.without_bound;
  auto text = [](const std::optional<double>& ratio) { return ratio ? fmt::format("{:.4f}", *ratio) : "-"; };
  fmt::print("| {} | {} | {} % | {} | {} | {} | {} {} | {:.1f} | {} |\n", cell.step, cell.machine,
             cell.percent, text(ours->second.ratio), bounded ? text(bound->second.ratio) : "-",
             bounded && ours->second.ratio
                 ? fmt::format("{:.2f}", 100 * (*ours->second.ratio - *bound->second.ratio))
                 : "-",
             rival.name, std::isfinite(rival.ratio) ? fmt::format("{:.4f}", rival.ratio) : "",
             ours->second.cpu_seconds, verdict);
}

void print_table(const Book& book) {
  fmt::print(
      "| step | machine | limit | ebb | bound | above it, points | best other | CPU s | |\n"
      "|---|---|---:|---:|---:|---:|---|---:|---|\n");
  Tally tally;
  for (const char* step : kSteps)
    for (const char* machine : kMachines)
      for (const int percent : kPercents) {
        const auto found = book.cells().find({fs::path(step).filename().string(), machine, percent});
        if (found != book.cells().end()) print_cell(found->first, found->second, tally);
      }
  fmt::print(
      "\n{} cells. No plan of ebb in {}. Worse than the best other in {}, by more than {} % in {}. Above the "
      "bound by {:.2f} points on average and {:.2f} at most. Longest planning: {:.1f} CPU s.\n",
      tally.cells, tally.unserved, tally.worse, 100 * kTolerance, tally.much_worse,
      tally.excess / std::max(1, tally.cells - tally.without_bound), tally.largest, tally.slowest);
  fmt::print("\nFirst plan after at most {:.2f} CPU s.\n", tally.first_plan);
  tally.same_time.print();
  tally.with_deadline.print();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[2] : "";
  if (command != "run" && command != "table") {
    fmt::print(stderr, "usage: planner_cells FILE run PLANNER… | planner_cells FILE table\n");
    return 2;
  }
  const fs::path data = fs::path(EBB_SOURCE_DIR) / ".." / "shared" / "data";
  if (!fs::exists(data)) {
    fmt::print("skipped: ../shared/data is not there\n");
    return 0;
  }
  Book book(argv[1]);
  const std::string first = argc > 3 ? argv[3] : "";
  const int options = first.starts_with("only=") ? 1 : 0;
  if (command == "run")
    run(book, data, options == 1 ? first.substr(5) : "",
        parse_contenders(argc - 3 - options, argv + 3 + options));
  if (command == "table") print_table(book);
}
