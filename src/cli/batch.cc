#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/limit.h"
#include "cli/machine_options.h"
#include "cli/plan_result.h"
#include "cli/planner_options.h"
#include "cli/table.h"
#include "cli/trace_options.h"
#include "machine/units.h"
#include "planners/largest_batch.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

struct BatchRequest {
  std::string one;
  std::string other;
  std::vector<std::int64_t> batches;
  TraceOptions rules;
  MachineOptions machine;
  PlannerOptions planner;
  std::string planner_name = "ebb";
  std::string limit;
  bool json = false;
};

std::int64_t batch_of(const BatchRequest& options, std::size_t i, const std::string& path) {
  const std::int64_t batch = options.batches.empty() ? recorded_batch(path) : options.batches[i];
  if (batch < 1)
    throw InputError(fmt::format("{} does not say its batch size: give both with --batches", path));
  return batch;
}

BatchModel load_model(const BatchRequest& options) {
  auto load_one = [&](const std::string& path) {
    TraceOptions trace = options.rules;
    trace.path = path;
    return load(trace);
  };
  return BatchModel(load_one(options.one), batch_of(options, 0, options.one), load_one(options.other),
                    batch_of(options, 1, options.other));
}

std::string row_text(const LargestBatch& largest) {
  return fmt::format("{} samples, {:.0f} samples/s ({} a step)", largest.batch, largest.throughput(),
                     format_time(largest.plan.step.step_time));
}

Json to_json(const LargestBatch& largest) {
  Json json = {{"batch", largest.batch}};
  if (largest.batch == 0) return json;
  json["step_ns"] = largest.plan.step.step_time;
  json["plain_ns"] = largest.plan.step.plain_time;
  json["samples_per_second"] = largest.throughput();
  json["peak_demand_bytes"] = largest.plan.step.peak_demand;
  return json;
}

Answer run(const BatchRequest& options) {
  const Planner& planner = find_planner(options.planner_name);
  check_settings(planner, options.planner);
  const BatchModel model = load_model(options);
  const Program sample = model.at(model.larger());
  const Machine machine = resolve_machine(options.machine, sample);
  const Bytes limit = parse_limit(options.limit, sample);
  const LargestBatch plain = find_largest_batch(model, machine, limit, find_planner("keep"), {});
  const LargestBatch largest = find_largest_batch(model, machine, limit, planner, options.planner);
  Answer answer;
  if (largest.batch == 0) {
    const Program one = model.at(1);
    const Gaps gaps(one);
    answer.code = ExitCode::does_not_fit;
    answer.complaint =
        fmt::format("{} does not fit one sample into {}: {}", options.planner_name, format_bytes(limit),
                    reason_for({one, gaps, machine, limit}, *largest.plan.infeasible));
  } else {
    check_schedule(largest.plan);
  }
  if (options.json) {
    answer.text = print({{"traces", {options.one, options.other}},
                         {"recorded_batches", {model.smaller(), model.larger()}},
                         {"machine", machine.name},
                         {"limit_bytes", limit},
                         {"planner", options.planner_name},
                         {"plain", to_json(plain)},
                         {"largest", to_json(largest)}});
  } else if (largest.batch > 0) {
    Facts facts;
    facts.add("as it is", plain.batch == 0 ? "not one sample" : row_text(plain));
    facts.add(options.planner_name, row_text(largest));
    if (plain.batch > 0)
      facts.add("gain", fmt::format("{:.2f} x the batch, {:.2f} x the throughput",
                                    static_cast<double>(largest.batch) / static_cast<double>(plain.batch),
                                    largest.throughput() / plain.throughput()));
    answer.text =
        fmt::format("{} on {} within {}, from batches {} and {}\n\n{}", short_name(options.other),
                    machine.name, format_bytes(limit), model.smaller(), model.larger(), facts.text());
  }
  return answer;
}

}  // namespace

Command add_batch(CLI::App& tool) {
  auto options = std::make_shared<BatchRequest>();
  CLI::App* command = tool.add_subcommand("batch", "Find the largest batch that fits a limit");
  command->add_option("TRACE", options->one, "The model's step at one batch size")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("OTHER", options->other,
                   "The same step at another; in between and beyond, sizes and times are on a line")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-l,--limit", options->limit,
                   "Memory limit: 11GiB, or 50% of the larger step's peak demand")
      ->required()
      ->type_name("SIZE|%");
  command->add_option("--batches", options->batches, "Batch sizes of the two, where the traces do not say")
      ->delimiter(',')
      ->expected(2)
      ->type_name("N,N");
  add_machine(*command, options->machine);
  command->add_option("-p,--planner", options->planner_name, "One of `ebb planners`")
      ->type_name("NAME")
      ->capture_default_str();
  add_planner_options(*command, options->planner);
  add_trace_rules(*command, options->rules);
  command->add_flag("--json", options->json, "JSON instead of a table; bytes and nanoseconds");
  command->footer(
      "Exit code 1: not even one sample fits\n"
      "Example: ebb batch resnet-b256.json.gz resnet-b512.json.gz --limit 11GiB --planner capuchin");
  return {command, [options] { return run(*options); }};
}

}  // namespace ebb::cli
