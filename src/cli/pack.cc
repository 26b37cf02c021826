#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/output_file.h"
#include "cli/packers.h"
#include "cli/plan_result.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "layout/csv.h"
#include "layout/residencies.h"
#include "layout/svg.h"
#include "machine/units.h"
#include "plan/plan_file.h"
#include "trace/error.h"
#include "trace/write_file.h"

namespace ebb::cli {
namespace {

using layout::Layout;
using layout::PackOptions;
using layout::Problem;

struct PackRequest {
  TraceOptions trace;
  std::string plan;
  std::string capacity;
  std::string algorithm = "pack";
  std::string alignment;
  double deadline = 0;
  std::uint64_t seed = 0;
  std::string output;
  std::string svg;
  bool minimize = false;
  bool compare = false;
  bool json = false;
};

struct Packed {
  const Packer& packer;
  Layout layout;
  double seconds = 0;
};

bool is_csv(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".csv.gz"); }

Problem planned_problem(const Program& program, const PackRequest& options) {
  const Gaps gaps(program);
  const PlanRecord record = read_plan(options.plan, program, gaps);
  const JudgedPlan judged = judge({program, gaps, record.machine, record.limit}, record.plan);
  check_schedule(judged);
  if (judged.infeasible)
    throw InputError(fmt::format("{}: {}", options.plan, judged.infeasible->sentence(program)));
  if (judged.schedule.commands.empty())
    throw InputError(fmt::format("{}: the plan has no steady order to lay out", options.plan));
  const layout::ArenaProblem arena = layout::arena_problem(program, gaps, judged.lowered, judged.schedule);
  if (arena.meets_itself)
    throw InputError(fmt::format(
        "{}: a block is made again while its last copy still runs, so that it has no single place",
        options.plan));
  return arena.problem;
}

Problem load_problem(const PackRequest& options) {
  if (is_csv(options.trace.path)) {
    if (!options.plan.empty()) throw InputError("--plan needs a trace, not a CSV file");
    return layout::read_csv(options.trace.path).problem;
  }
  const Program program = load(options.trace);
  return options.plan.empty() ? layout::arena_problem(program).problem : planned_problem(program, options);
}

// What breaks a rule only as a whole has no line to name.
void check_named(const Problem& problem, Bytes alignment, const std::string& path) try {
  layout::check(problem, alignment);
} catch (const InputError& error) {
  throw InputError(fmt::format("{}: {}", path, error.what()));
}

PackOptions pack_options(const PackRequest& options) {
  PackOptions result{.seed = options.seed};
  if (is_csv(options.trace.path)) result.alignment = 1;
  if (!options.alignment.empty()) result.alignment = parse_bytes(options.alignment);
  if (!options.capacity.empty()) result.capacity = parse_bytes(options.capacity);
  if (options.deadline > 0) result.deadline_seconds = options.deadline;
  return result;
}

Packed pack(const Packer& packer, const Problem& problem, const PackOptions& options) {
  const WaitingLine waiting(fmt::format("{}: {} buffers", packer.name, problem.buffers.size()));
  const auto start = std::chrono::steady_clock::now();
  Packed packed{packer, pack_checked(packer, problem, options)};
  packed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return packed;
}

std::string as_text(const PackRequest& options, const Problem& problem, const std::vector<Packed>& all) {
  Table table;
  table.column("algorithm", Align::left);
  for (const char* header : {"footprint", "ratio", "time"}) table.column(header);
  table.column("", Align::left);
  for (const Packed& packed : all) {
    const Layout& layout = packed.layout;
    const bool has_footprint = layout.fits || layout.footprint > 0;
    table.row({std::string(packed.packer.name), has_footprint ? format_bytes(layout.footprint) : "-",
               has_footprint ? fmt::format("{:.4f}", layout.ratio()) : "-",
               fmt::format("{:.3f} s", packed.seconds),
               !layout.fits    ? (layout.proved ? "cannot fit" : "does not fit")
               : layout.proved ? "no layout is smaller"
                               : ""});
  }
  return fmt::format("{}: {} buffers, peak load {} ({} bytes)\n\n{}", short_name(options.trace.path),
                     problem.buffers.size(), format_bytes(all.front().layout.load), all.front().layout.load,
                     table.text());
}

Json as_json(const PackRequest& options, const Problem& problem, const std::vector<Packed>& all) {
  Json layouts = Json::array();
  for (const Packed& packed : all)
    layouts.push_back({{"algorithm", packed.packer.name},
                       {"fits", packed.layout.fits},
                       {"proved", packed.layout.proved},
                       {"footprint_bytes", packed.layout.footprint},
                       {"ratio", packed.layout.ratio()},
                       {"lower_bound_bytes", packed.layout.lower_bound},
                       {"seconds", packed.seconds}});
  return {{"input", options.trace.path},
          {"buffers", problem.buffers.size()},
          {"load_bytes", all.front().layout.load},
          {"layouts", std::move(layouts)}};
}

void write_files(const PackRequest& options, const Problem& problem, const Packed& packed) {
  if (!options.output.empty())
    write_file_atomically(options.output, layout::format_csv(problem, packed.layout));
  if (!options.svg.empty())
    write_file_atomically(options.svg,
                          layout::draw_svg(problem, packed.layout, short_name(options.trace.path)));
}

Answer run(const PackRequest& options) {
  const Packer& chosen = find_packer(options.algorithm);
  const bool writes = !options.output.empty() || !options.svg.empty();
  if (writes && !chosen.has_offsets)
    throw InputError(fmt::format("{} has a footprint but no offsets to write", chosen.name));
  require_writable(options.output, {options.trace.path});
  require_writable(options.svg, {options.trace.path});
  const Problem problem = load_problem(options);
  const PackOptions limits = pack_options(options);
  check_named(problem, limits.alignment, options.trace.path);
  std::vector<Packed> all{pack(chosen, problem, limits)};
  for (const Packer& packer : packers())
    if (options.compare && packer.name != chosen.name) all.push_back(pack(packer, problem, limits));
  Answer answer{.text =
                    options.json ? print(as_json(options, problem, all)) : as_text(options, problem, all)};
  if (all.front().layout.fits) {
    write_files(options, problem, all.front());
    return answer;
  }
  answer.code = ExitCode::does_not_fit;
  answer.complaint =
      fmt::format("{} found no layout within {} bytes{}; the load is {} bytes", chosen.name, *limits.capacity,
                  all.front().layout.proved ? ": there is none" : "", all.front().layout.load);
  return answer;
}

}  // namespace

Command add_pack(CLI::App& tool) {
  auto options = std::make_shared<PackRequest>();
  CLI::App* command =
      tool.add_subcommand("pack", "Give every block its place in one arena, as small as can be");
  command
      ->add_option("FILE", options->trace.path,
                   "A training step, or a CSV (.csv, .csv.gz): id,lower,upper,size")
      ->required()
      ->type_name("FILE");
  command->add_option("--plan", options->plan, "Pack the step as this plan runs it")->type_name("FILE");
  CLI::Option* capacity =
      command->add_option("--capacity", options->capacity, "Does it fit? Any layout up to this will do")
          ->type_name("SIZE");
  command
      ->add_flag("--minimize", options->minimize,
                 "The smallest layout that can be found: what happens without --capacity")
      ->excludes(capacity);
  command->add_option("-a,--algorithm", options->algorithm, "pack, or one that --compare lists")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--compare", options->compare, "All algorithms side by side");
  command
      ->add_option("--alignment", options->alignment,
                   "Of offsets; 512 for a step and 1 for a CSV if not given")
      ->type_name("SIZE");
  command
      ->add_option("--deadline", options->deadline, "Stop searching after this; 0: when the budget is spent")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the search")->type_name("N")->capture_default_str();
  command->add_option("-o,--output", options->output, "Write the offsets as CSV")->type_name("FILE");
  command->add_option("--svg", options->svg, "Draw the layout")->type_name("FILE");
  add_trace_rules(*command, options->trace);
  command->add_flag("--json", options->json, "JSON instead of a table; bytes");
  command->footer(
      "A search that does not reach the load goes on for a few seconds; --deadline shortens it\n"
      "Exit code 1: no layout within the capacity was found; no file is written\n"
      "Example: ebb pack data/resnet50.json.gz --compare --svg resnet50.svg");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
