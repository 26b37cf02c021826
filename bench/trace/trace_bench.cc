// Reading a trace of a million ops (goal: 2 s and 1 GiB) and finding the iteration in a million events (goal:
// 2 s).
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "trace/block_history.h"
#include "trace/detect.h"
#include "trace/gzip.h"
#include "trace/import_step.h"
#include "trace/iteration.h"
#include "trace/load.h"
#include "trace/trace_file.h"
#include "trace/unroll.h"
#include "trace/write_file.h"

namespace {

constexpr int kMillion = 1'000'000;

ebb::Program bundled(const char* name) {
  return ebb::load_program(std::string(EBB_SOURCE_DIR) + "/data/" + name + ".json.gz");
}

ebb::Trace trace_of_a_million_ops() {
  const ebb::Program step = bundled("resnet50");
  return ebb::unroll(step, kMillion / step.op_count() + 1);
}

ebb::Trace trace_of_a_million_events(const char* name) {
  const ebb::Program step = bundled(name);
  const auto once = static_cast<int>(ebb::unroll(step, 2).events.size() - ebb::unroll(step, 1).events.size());
  return ebb::unroll(step, kMillion / once + 1);
}

// A step trace with a million ops, each bringing a block that the next op reads and frees.
std::string json_of_a_million_ops() {
  std::string ops, blocks;
  for (int i = 0; i < kMillion; ++i) {
    const std::string id = std::to_string(i);
    ops += (i == 0 ? "" : ",") + std::string(R"({"n":"aten::relu","p":"F","us":3.872,"x":4096,"r":[)") +
           (i == 0 ? "" : std::to_string(i - 1)) + R"(],"w":[)" + id + "]}";
    blocks += (i == 0 ? "" : ",") + std::string(R"({"b":4096,"a":)") + id + R"(,"f":)" +
              std::to_string(std::min(i + 1, kMillion - 1)) + "}";
  }
  return R"({"meta":{"model":"million"},"ops":[)" + ops + R"(],"blocks":[)" + blocks + "]}";
}

// Writes the file in a process of its own, so that this one's peak memory is the reader's.
template <typename Write>
std::string written_elsewhere(const char* name, Write write) {
  const std::string path = (std::filesystem::temp_directory_path() / name).string();
  const pid_t writer = fork();
  if (writer == 0) {
    write(path);
    std::_Exit(0);
  }
  waitpid(writer, nullptr, 0);
  return path;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void ReadAMillionOps(benchmark::State& state) {
  const std::string path = written_elsewhere("ebb-bench-million.trace", [](const std::string& target) {
    ebb::write_trace(target, trace_of_a_million_ops());
  });
  std::size_t events = 0;
  for (auto _ : state) {
    const ebb::Trace trace = ebb::read_trace(path);
    events = trace.events.size();
    benchmark::DoNotOptimize(trace.events.data());
  }
  state.counters["events"] = static_cast<double>(events);
  state.counters["file_MiB"] = static_cast<double>(std::filesystem::file_size(path)) / 1048576;
  state.counters["peak_MiB"] = peak_mib();
  std::filesystem::remove(path);
}
BENCHMARK(ReadAMillionOps)->Unit(benchmark::kMillisecond);

void LoadAMillionOps(benchmark::State& state) {
  const std::string path = written_elsewhere("ebb-bench-load.trace", [](const std::string& target) {
    ebb::write_trace(target, trace_of_a_million_ops());
  });
  for (auto _ : state) benchmark::DoNotOptimize(ebb::load_program(path).op_count());
  state.counters["peak_MiB"] = peak_mib();
  std::filesystem::remove(path);
}
BENCHMARK(LoadAMillionOps)->Unit(benchmark::kMillisecond);

void DetectInAMillionEvents(benchmark::State& state, const char* name) {
  const ebb::Trace trace = trace_of_a_million_events(name);
  const auto blocks = ebb::block_histories(trace, name);
  ebb::Detection detection;
  for (auto _ : state) detection = ebb::detect_iteration(trace, blocks, {});
  state.counters["events"] = static_cast<double>(trace.events.size());
  state.counters["period"] = static_cast<double>(detection.period);
}
BENCHMARK_CAPTURE(DetectInAMillionEvents, resnet50, "resnet50")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(DetectInAMillionEvents, vgg16, "vgg16")->Unit(benchmark::kMillisecond);

// The hard case: the tail is a deviation, so that earlier runs have to be looked for.
void DetectAfterADeviation(benchmark::State& state) {
  ebb::Trace trace = trace_of_a_million_events("resnet50");
  ebb::TraceBuilder builder(trace);
  for (int i = 0; i < 1000; ++i) builder.exec({.name = "deviation " + std::to_string(i)});
  const auto blocks = ebb::block_histories(trace, "deviation");
  ebb::Detection detection;
  for (auto _ : state) detection = ebb::detect_iteration(trace, blocks, {});
  state.counters["events"] = static_cast<double>(trace.events.size());
  state.counters["found"] = detection.status == ebb::DetectStatus::found;
}
BENCHMARK(DetectAfterADeviation)->Unit(benchmark::kMillisecond);

// Appending must be cheap: the runtime waits for it.
void AppendAnOp(benchmark::State& state) {
  const std::string path = (std::filesystem::temp_directory_path() / "ebb-bench-append.trace").string();
  ebb::TraceWriter writer(path, "append");
  const std::vector<ebb::Access> accesses = {{.block = 0, .reads = true}, {.block = 1, .writes = true}};
  writer.malloc(0, 4096);
  writer.malloc(1, 4096);
  ebb::Nanoseconds now = 0;
  for (auto _ : state)
    writer.exec({.name = "aten::relu", .duration = 3872, .issue = now += 5000, .accesses = accesses});
  std::filesystem::remove(path);
}
BENCHMARK(AppendAnOp);

void ImportAMillionOpsOfJson(benchmark::State& state) {
  const std::string path = written_elsewhere("ebb-bench-million.json", [](const std::string& target) {
    ebb::write_file_atomically(target, json_of_a_million_ops());
  });
  for (auto _ : state) benchmark::DoNotOptimize(ebb::load_program(path).op_count());
  state.counters["peak_MiB"] = peak_mib();
  std::filesystem::remove(path);
}
BENCHMARK(ImportAMillionOpsOfJson)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
