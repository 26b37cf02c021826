#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "machine/machine_file.h"
#include "machine/presets.h"
#include "machine/units.h"
#include "trace/write_file.h"

namespace ebb::cli {
namespace {

struct MachinesRequest {
  std::string name;
  bool measure = false;
  std::string backend = "any";
  std::string output;
  bool json = false;
};

std::string or_dash(Bytes value, std::string (*format)(Bytes)) { return value == 0 ? "-" : format(value); }

std::string list() {
  Table table;
  table.column("machine", Align::left);
  for (const char* header :
       {"out", "in", "both", "latency out", "latency in", "compute beside copies", "device", "host"})
    table.column(header);
  for (const Machine& machine : machine_presets()) {
    const auto slowest = static_cast<double>(machine.compute_stretch[3]) / 1e6;
    table.row({machine.name, format_bandwidth(machine.bandwidth_out), format_bandwidth(machine.bandwidth_in),
               machine.exclusive ? "one at a time" : or_dash(machine.bandwidth_both, format_bandwidth),
               or_dash(machine.latency_out, format_time), or_dash(machine.latency_in, format_time),
               slowest > 1 ? fmt::format("{} slower", percent(slowest - 1)) : "-",
               or_dash(machine.device_bytes, format_bytes), or_dash(machine.host_bytes, format_bytes)});
  }
  return table.text();
}

std::string describe(const Machine& machine) {
  Facts facts;
  facts.add("machine", machine.name);
  facts.add("source", machine.source);
  facts.add("bandwidth_out", format_bandwidth(machine.bandwidth_out));
  facts.add("bandwidth_in", format_bandwidth(machine.bandwidth_in));
  facts.add("bandwidth_both",
            machine.bandwidth_both == 0 ? "no cap" : format_bandwidth(machine.bandwidth_both));
  facts.add("latency_out", format_time(machine.latency_out));
  facts.add("latency_in", format_time(machine.latency_in));
  if (machine.op_issue > 0) facts.add("op_issue", format_time(machine.op_issue));
  if (machine.follow_issue > 0) facts.add("follow_issue", format_time(machine.follow_issue));
  if (machine.replay_issue > 0) facts.add("replay_issue", format_time(machine.replay_issue));
  if (machine.copy_issue > 0) facts.add("copy_issue", format_time(machine.copy_issue));
  if (machine.host_lead > 0) facts.add("host_lead", format_time(machine.host_lead));
  facts.add("exclusive", machine.exclusive ? "true: one transfer at a time" : "false");
  const char* const names[] = {"", "stretch_out", "stretch_in", "stretch_both"};
  for (std::size_t i = 1; i < machine.compute_stretch.size(); ++i)
    facts.add(names[i], factor(static_cast<double>(machine.compute_stretch[i]) / 1e6));
  if (machine.worst_stretch) facts.add("worst_stretch", "true: of ops that take all memory bandwidth");
  facts.add("compute_scale", fmt::format("{:g}", machine.compute_scale));
  for (const auto& [op, scale] : machine.op_scale) facts.add("op_scale." + op, fmt::format("{:g}", scale));
  facts.add("teraflops", machine.teraflops == 0 ? "unknown" : fmt::format("{:g}", machine.teraflops));
  facts.add("memory_gb_per_s",
            machine.memory_gb_per_s == 0 ? "unknown" : fmt::format("{:g}", machine.memory_gb_per_s));
  facts.add("device_bytes", machine.device_bytes == 0 ? "unknown" : format_bytes(machine.device_bytes));
  facts.add("host_bytes", machine.host_bytes == 0 ? "no limit" : format_bytes(machine.host_bytes));
  facts.add("pinning", machine.pin_seconds_per_gib == 0
                           ? "unknown"
                           : fmt::format("{:.3f} s per GiB", machine.pin_seconds_per_gib));
  return facts.text();
}

std::string as_answer(const MachinesRequest& options, const Machine& machine) {
  return options.json ? print(Json::parse(to_json(machine))) : describe(machine);
}

Answer run(const MachinesRequest& options) {
  require_writable(options.output);
  if (options.measure) {
    const WaitingLine waiting("measuring");
    const Machine machine = measure_machine(options.backend);
    if (!options.output.empty()) write_file_atomically(options.output, to_json(machine));
    return {.text = as_answer(options, machine)};
  }
  if (!options.name.empty()) {
    const Machine machine = load_machine(options.name);
    return {.text = as_answer(options, machine)};
  }
  if (!options.json) return {.text = list()};
  Json all = Json::array();
  for (const Machine& machine : machine_presets()) all.push_back(Json::parse(to_json(machine)));
  return {.text = print(all)};
}

}  // namespace

Command add_machines(CLI::App& tool) {
  auto options = std::make_shared<MachinesRequest>();
  CLI::App* command =
      tool.add_subcommand("machines", "List the machines Ebb knows, show one, or measure this one");
  CLI::Option* name =
      command->add_option("NAME", options->name, "Show this machine, or the one in this JSON file")
          ->type_name("NAME|FILE");
  CLI::Option* measure =
      command
          ->add_flag("--measure", options->measure,
                     "Measure this machine's links: bandwidths, latencies, slow-down of compute, pinning")
          ->excludes(name);
  command
      ->add_option("--backend", options->backend,
                   "What to measure: cuda, host, or any: CUDA if there is a GPU")
      ->check(CLI::IsMember({"any", "cuda", "host"}))
      ->type_name("NAME")
      ->capture_default_str()
      ->needs(measure);
  command->add_option("-o,--output", options->output, "Write what was measured as a machine file")
      ->type_name("FILE")
      ->needs(measure);
  command->add_flag("--json", options->json,
                    "JSON instead of a table; what it prints for one machine is a machine file");
  command->footer(
      "Example: ebb machines h200\n"
      "         ebb machines --measure -o here.json, then ebb plan … --machine here.json");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
