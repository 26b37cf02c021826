#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/chain_table.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/load_plot.h"
#include "cli/machine_options.h"
#include "cli/step_summary.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "machine/units.h"
#include "plan/sharing.h"
#include "report/sparkline.h"
#include "trace/fingerprint.h"

namespace ebb::cli {
namespace {

constexpr std::size_t kLongestName = 40;
constexpr std::size_t kSparkWidth = 60;

struct InspectRequest {
  TraceOptions trace;
  std::size_t top = 10;
  bool plot = false;
  bool sharing = false;
  bool json = false;
  bool chain = false;
  MachineOptions machine;
};

std::string op_text(const Program& program, OpIndex op) {
  return fmt::format("op {} {}", op, program.op(op).name);
}

double fraction(std::int64_t part, std::int64_t whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

std::string facts(const Program& program, const Gaps& gaps, const StepSummary& summary) {
  Facts facts;
  facts.add("program", program.info().name);
  facts.add("ops", fmt::format("{}", program.op_count()));
  std::string blocks = fmt::format("{}: ", program.block_count());
  for (Lifetime lifetime : {Lifetime::local, Lifetime::persistent, Lifetime::wrapping})
    blocks += fmt::format("{}{} {}", lifetime == Lifetime::local ? "" : ", ",
                          summary.lifetimes[static_cast<std::size_t>(lifetime)].blocks, name_of(lifetime));
  facts.add("blocks", blocks);
  facts.add("managed", fmt::format("{} blocks with {} gaps: {} between, {} wrapping, {} trailing",
                                   summary.managed.blocks, gaps.count(), summary.gaps[0], summary.gaps[1],
                                   summary.gaps[2]));
  facts.add("peak load",
            fmt::format("{} MiB ({}) at {}", mib(summary.peak_load), format_bytes(summary.peak_load),
                        op_text(program, summary.peak_load_op)));
  facts.add("peak demand", fmt::format("{} MiB ({}) at {}", mib(summary.peak_demand),
                                       format_bytes(summary.peak_demand), op_text(program, summary.peak_op)));
  if (program.info().unmanaged > 0)
    facts.add("", fmt::format("{} MiB of it unmanaged", mib(program.info().unmanaged)));
  facts.add("smallest limit",
            fmt::format("{} MiB ({} of the peak): what {} needs", mib(summary.largest_need.bytes),
                        percent(fraction(summary.largest_need.bytes, summary.peak_demand)),
                        op_text(program, summary.largest_need.op)));
  facts.add("over time",
            report::sparkline(report::demand_by_column(program, kSparkWidth), program.peak_demand()));
  facts.add("compute time", format_time(program.compute_time()));
  if (program.info().measured_step > 0)
    facts.add("measured step",
              fmt::format("{}, {:+.1f} % against compute", format_time(program.info().measured_step),
                          100 * (fraction(program.info().measured_step, program.compute_time()) - 1)));
  return facts.text();
}

std::string shares_table(const std::string& title, const std::vector<Share>& shares, std::size_t most,
                         const Program& program, const StepSummary& summary) {
  Table table;
  table.column(title, Align::left);
  for (const char* header : {"ops", "time", "", "MiB at peak", ""}) table.column(header);
  auto add = [&](const Share& share) {
    const Bytes bytes = share.born + share.workspace;
    table.row({shortened(share.name, kLongestName), fmt::format("{}", share.ops), format_time(share.time),
               percent(fraction(share.time, program.compute_time())), mib(bytes),
               percent(fraction(bytes, summary.peak_demand))});
  };
  Share rest{.name = "(others)"};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i < most || shares.size() <= most + 1) {
      add(shares[i]);
      continue;
    }
    rest.ops += shares[i].ops;
    rest.time += shares[i].time;
    rest.born += shares[i].born + shares[i].workspace;
  }
  if (rest.ops > 0) add(rest);
  const Bytes before = summary.persistent_at_peak + program.info().unmanaged;
  table.row(
      {"(there before the step)", "", "", "", mib(before), percent(fraction(before, summary.peak_demand))});
  return table.text();
}

std::string idle_table(const StepSummary& summary) {
  Table table;
  table.column("idle across the peak", Align::left);
  for (const char* header : {"gaps", "MiB", "of peak", "recomputable MiB"}) table.column(header);
  IdleSummary total;
  auto add = [&](std::string_view name, const IdleSummary& idle) {
    table.row({std::string(name), fmt::format("{}", idle.gaps), mib(idle.bytes),
               percent(fraction(idle.bytes, summary.peak_demand)), mib(idle.recomputable)});
  };
  for (GapKind kind : {GapKind::between, GapKind::wrapping, GapKind::trailing}) {
    const IdleSummary& idle = summary.idle[static_cast<std::size_t>(kind)];
    add(name_of(kind), idle);
    total.gaps += idle.gaps;
    total.bytes += idle.bytes;
    total.recomputable += idle.recomputable;
  }
  add("all", total);
  return table.text();
}

std::string gaps_table(const Program& program, const StepSummary& summary) {
  Table table;
  table.column("largest gaps", Align::left);
  table.column("MiB");
  table.column("idle");
  table.column("across peak");
  table.column("recompute");
  for (const char* header : {"kind", "after", "until"}) table.column(header, Align::left);
  for (const GapSummary& entry : summary.largest_gaps) {
    const Gap& gap = entry.gap;
    const std::string until =
        gap.kind == GapKind::trailing ? "freed" : op_text(program, gap.to % program.op_count());
    table.row({fmt::format("block {}", gap.block), mib(entry.bytes), format_time(entry.idle),
               entry.spans_peak ? "yes" : "no", entry.recomputable ? format_time(entry.recompute_time) : "-",
               std::string(name_of(gap.kind)), shortened(op_text(program, gap.from), kLongestName),
               shortened(until, kLongestName)});
  }
  return table.text();
}

std::string sharing_table(const Program& program) {
  Bytes staying = 0;
  for (const Block& block : program.blocks())
    if (block.lifetime != Lifetime::local) staying += block.bytes;
  const SharingSummary sharing = analyse_sharing(program);
  Table table;
  table.column("what ops make", Align::left);
  for (const char* header : {"no optimisation", "in-place", "sharing", "as recorded"}) table.column(header);
  table.row({"MiB", mib(sharing.no_optimisation), mib(sharing.in_place), mib(sharing.sharing),
             mib(std::max(Bytes{0}, program.peak_load() - staying))});
  return table.text();
}

std::string as_text(const InspectRequest& options, const Program& program, const Gaps& gaps,
                    const StepSummary& summary) {
  std::string text = facts(program, gaps, summary);
  if (options.plot || ::isatty(STDOUT_FILENO) == 1) text += "\n" + plot_demand(program);
  text += "\n" + shares_table("phase", summary.phases, summary.phases.size(), program, summary);
  text += "\n" + shares_table("op type", summary.op_types, options.top, program, summary);
  if (options.sharing) text += "\n" + sharing_table(program);
  text += "\n" + idle_table(summary);
  if (!summary.largest_gaps.empty()) text += "\n" + gaps_table(program, summary);
  return text;
}

Json to_json(const std::vector<Share>& shares) {
  Json list = Json::array();
  for (const Share& share : shares)
    list.push_back({{"name", share.name},
                    {"ops", share.ops},
                    {"time_ns", share.time},
                    {"born_at_peak_bytes", share.born},
                    {"workspace_at_peak_bytes", share.workspace}});
  return list;
}

Json to_json(const Program& program, const GapSummary& entry) {
  return {{"block", entry.gap.block},
          {"bytes", entry.bytes},
          {"from", entry.gap.from},
          {"to", entry.gap.to},
          {"kind", name_of(entry.gap.kind)},
          {"after_op", program.op(entry.gap.from).name},
          {"idle_ns", entry.idle},
          {"across_peak", entry.spans_peak},
          {"recomputable", entry.recomputable},
          {"recompute_ns", entry.recompute_time}};
}

Json at_op(const Program& program, OpIndex op, Bytes bytes) {
  return {{"bytes", bytes}, {"op", op}, {"op_name", program.op(op).name}};
}

Json as_json(const InspectRequest& options, const Program& program, const Gaps& gaps,
             const StepSummary& summary) {
  Json json = {{"trace", options.trace.path},
               {"program", program.info().name},
               {"fingerprint", fingerprint_text(fingerprint(program))},
               {"ops", program.op_count()},
               {"blocks", program.block_count()},
               {"managed_blocks", summary.managed.blocks},
               {"managed_bytes", summary.managed.bytes},
               {"gaps", gaps.count()},
               {"peak_load", at_op(program, summary.peak_load_op, summary.peak_load)},
               {"peak_demand", at_op(program, summary.peak_op, summary.peak_demand)},
               {"smallest_limit", at_op(program, summary.largest_need.op, summary.largest_need.bytes)},
               {"unmanaged_bytes", program.info().unmanaged},
               {"persistent_bytes", summary.persistent_at_peak},
               {"compute_ns", program.compute_time()},
               {"measured_step_ns", program.info().measured_step},
               {"phases", to_json(summary.phases)},
               {"op_types", to_json(summary.op_types)}};
  for (Lifetime lifetime : {Lifetime::local, Lifetime::persistent, Lifetime::wrapping}) {
    const LifetimeSummary& entry = summary.lifetimes[static_cast<std::size_t>(lifetime)];
    json["lifetimes"][std::string(name_of(lifetime))] = {{"blocks", entry.blocks}, {"bytes", entry.bytes}};
  }
  for (GapKind kind : {GapKind::between, GapKind::wrapping, GapKind::trailing}) {
    const IdleSummary& idle = summary.idle[static_cast<std::size_t>(kind)];
    json["idle_across_peak"][std::string(name_of(kind))] = {
        {"gaps", idle.gaps}, {"bytes", idle.bytes}, {"recomputable_bytes", idle.recomputable}};
  }
  if (options.sharing) {
    const SharingSummary sharing = analyse_sharing(program);
    json["sharing"] = {{"no_optimisation_bytes", sharing.no_optimisation},
                       {"in_place_bytes", sharing.in_place},
                       {"sharing_bytes", sharing.sharing}};
  }
  json["largest_gaps"] = Json::array();
  for (const GapSummary& entry : summary.largest_gaps)
    json["largest_gaps"].push_back(to_json(program, entry));
  return json;
}

Answer run(const InspectRequest& options) {
  const Program program = load(options.trace);
  const Gaps gaps(program);
  if (options.chain) {
    const ChainView view = view_as_chain(program, gaps, resolve_machine(options.machine, program));
    return {.text = options.json ? print(chain_json(program, view)) : chain_text(program, view)};
  }
  const StepSummary summary = summarise(program, gaps, options.top);
  return {.text = options.json ? print(as_json(options, program, gaps, summary))
                               : as_text(options, program, gaps, summary)};
}

}  // namespace

Command add_inspect(CLI::App& tool) {
  auto options = std::make_shared<InspectRequest>();
  CLI::App* command =
      tool.add_subcommand("inspect", "Show what a training step holds, where it peaks and what lies idle");
  add_trace(*command, options->trace);
  command->add_option("--top", options->top, "How many op types and gaps to list")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--plot", options->plot, "Draw demand over time even if the output is not a terminal");
  command->add_flag("--chain", options->chain,
                    "The step as a chain of layers, as [OFF] and its planners see it");
  add_machine(*command, options->machine);
  command->add_flag("--sharing", options->sharing,
                    "Also what results take without optimisation, in place, and with memory used again");
  command->add_flag("--json", options->json, "JSON instead of tables; bytes and nanoseconds");
  command->footer("Example: ebb inspect data/resnet50.json.gz --top 5");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
