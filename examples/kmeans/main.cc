// K-means on a Device: points that are several times larger than its memory, and the same centroids, bit for
// bit. It runs three times: without Ebb, with Ebb and room for everything, and with Ebb under the limit.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/cuda_backend.h"
#include "backend/host/host_backend.h"
#include "kernels.h"
#include "runtime/device.h"

namespace {

using ebb::Bytes;
using ebb::Handle;
using kmeans::Kernels;
using kmeans::Shape;

struct Settings {
  bool cuda = false;
  std::int64_t points = 0;  // 0: as many as suit the backend
  int chunk = 0;            // points per block
  Shape shape = {.clusters = 16, .dimensions = 32};
  int iterations = 12;
  double limit = 0.25;  // of the memory it takes
  std::string trace;
};

struct Chunk {
  std::int64_t first = 0;
  int count = 0;
};

std::vector<Chunk> chunks_of(const Settings& settings) {
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < settings.points; first += settings.chunk)
    chunks.push_back(
        {first, static_cast<int>(std::min<std::int64_t>(settings.chunk, settings.points - first))});
  return chunks;
}

std::size_t point_bytes(const Settings& settings, int count) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(settings.shape.dimensions) *
         sizeof(float);
}
std::size_t label_bytes(int count) { return static_cast<std::size_t>(count) * sizeof(int); }
std::size_t centroid_bytes(const Settings& settings) {
  return settings.shape.centroid_floats() * sizeof(float);
}
std::size_t sum_bytes(const Settings& settings) { return settings.shape.sum_floats() * sizeof(float); }

Bytes memory_of(const Settings& settings, const Kernels& kernels) {
  std::size_t bytes = centroid_bytes(settings) + sum_bytes(settings);
  for (const Chunk& chunk : chunks_of(settings))
    bytes += point_bytes(settings, chunk.count) + label_bytes(chunk.count);
  bytes += kernels.scratch_floats(settings.shape, settings.chunk) * sizeof(float);
  return static_cast<Bytes>(bytes);
}

struct Result {
  std::vector<float> centroids;
  double seconds = 0;  // per iteration: the median of the second half of them
  ebb::DeviceStatistics statistics = {};
};

// Calls iterate() as often as asked for; the median of the seconds per call in the second half.
template <typename Iterate>
double time_iterations(const Settings& settings, Kernels& kernels, Iterate&& iterate) {
  std::vector<double> seconds;
  for (int i = 0; i < settings.iterations; ++i) {
    const auto start = std::chrono::steady_clock::now();
    iterate();
    kernels.synchronize();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= settings.iterations / 2) seconds.push_back(elapsed.count());
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

class Memory {
 public:
  Memory(Kernels& kernels, std::size_t bytes) : kernels_(kernels), data_(kernels.allocate(bytes)) {
    if (data_ == nullptr) throw std::runtime_error(fmt::format("no {} bytes are left", bytes));
  }
  ~Memory() { kernels_.release(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  float* floats() const { return reinterpret_cast<float*>(data_); }
  int* ints() const { return reinterpret_cast<int*>(data_); }

 private:
  Kernels& kernels_;
  std::byte* data_;
};

Result run_without_ebb(const Settings& settings, Kernels& kernels) {
  const Shape& shape = settings.shape;
  const std::vector<Chunk> chunks = chunks_of(settings);
  std::vector<std::unique_ptr<Memory>> points, labels;
  for (const Chunk& chunk : chunks) {
    points.push_back(std::make_unique<Memory>(kernels, point_bytes(settings, chunk.count)));
    labels.push_back(std::make_unique<Memory>(kernels, label_bytes(chunk.count)));
    kernels.fill(shape, points.back()->floats(), chunk.first, chunk.count);
  }
  const Memory centroids(kernels, centroid_bytes(settings));
  const Memory sums(kernels, sum_bytes(settings));
  const Memory scratch(kernels, 1 + kernels.scratch_floats(shape, settings.chunk) * sizeof(float));
  kernels.fill(shape, centroids.floats(), 0, shape.clusters);
  Result result;
  result.seconds = time_iterations(settings, kernels, [&] {
    kernels.clear(sums.floats(), shape.sum_floats());
    for (std::size_t k = 0; k < chunks.size(); ++k)
      kernels.assign(shape, points[k]->floats(), chunks[k].count, centroids.floats(), labels[k]->ints(),
                     sums.floats(), scratch.floats());
    kernels.update(shape, sums.floats(), centroids.floats());
  });
  result.centroids.resize(shape.centroid_floats());
  kernels.read(result.centroids.data(), centroids.floats(), centroid_bytes(settings));
  return result;
}

// The same program, told to the Device op by op.
class OnDevice {
 public:
  OnDevice(ebb::Device& device, const Settings& settings, Kernels& kernels)
      : device_(device), shape_(settings.shape), settings_(settings), kernels_(kernels) {
    for (const Chunk& chunk : chunks_of(settings)) {
      chunks_.push_back(chunk);
      points_.push_back(device.malloc(static_cast<Bytes>(point_bytes(settings, chunk.count))));
      labels_.push_back(device.malloc(static_cast<Bytes>(label_bytes(chunk.count))));
      fill(points_.back(), chunk.first, chunk.count);
    }
    centroids_ = device.malloc(static_cast<Bytes>(centroid_bytes(settings)));
    sums_ = device.malloc(static_cast<Bytes>(sum_bytes(settings)));
    fill(centroids_, 0, shape_.clusters);
  }

  void iterate() {
    device_.exec({.name = "clear", .replayable = true}, {}, {{sums_}},
                 [=, this](ebb::ExecContext& c) { kernels_.clear(floats(c, sums_), shape_.sum_floats()); });
    for (std::size_t k = 0; k < chunks_.size(); ++k) assign(points_[k], labels_[k], chunks_[k].count);
    device_.exec({.name = "update"}, {{sums_, centroids_}}, {{centroids_}}, [=, this](ebb::ExecContext& c) {
      kernels_.update(shape_, floats(c, sums_), floats(c, centroids_));
    });
  }

  std::vector<float> centroids() {
    std::vector<float> result(shape_.centroid_floats());
    const ebb::Pin pin = device_.pin(centroids_, ebb::PinFor::reading);
    kernels_.read(result.data(), pin.data(), centroid_bytes(settings_));
    return result;
  }

 private:
  static float* floats(ebb::ExecContext& context, Handle block) {
    return reinterpret_cast<float*>(context.data(block));
  }

  void fill(Handle block, std::int64_t first, int count) {
    device_.exec({.name = "fill"}, {}, {{block}},
                 [=, this](ebb::ExecContext& c) { kernels_.fill(shape_, floats(c, block), first, count); });
  }

  void assign(Handle points, Handle labels, int count) {
    device_.exec({.name = "assign"}, {{points, centroids_, sums_}}, {{labels, sums_}},
                 [=, this](ebb::ExecContext& c) {
                   const std::size_t wanted = kernels_.scratch_floats(shape_, count);
                   std::optional<Handle> scratch;
                   if (wanted > 0) scratch = c.malloc(static_cast<Bytes>(wanted * sizeof(float)));
                   kernels_.assign(shape_, floats(c, points), count, floats(c, centroids_),
                                   reinterpret_cast<int*>(c.data(labels)), floats(c, sums_),
                                   scratch ? floats(c, *scratch) : nullptr);
                   if (scratch) c.free(*scratch);
                 });
  }

  ebb::Device& device_;
  const Shape shape_;
  const Settings& settings_;
  Kernels& kernels_;
  std::vector<Chunk> chunks_;
  std::vector<Handle> points_, labels_;
  Handle centroids_ = 0, sums_ = 0;
};

Result run_with_ebb(const Settings& settings, Kernels& kernels, Bytes limit, const std::string& trace) {
  const std::unique_ptr<ebb::Backend> backend =
      settings.cuda ? ebb::make_cuda_backend() : std::make_unique<ebb::HostBackend>();
  ebb::Device device(*backend, {.limit = limit, .host_slab = 64 * ebb::kMiB});
  OnDevice program(device, settings, kernels);
  Result result;
  result.seconds = time_iterations(settings, kernels, [&] { program.iterate(); });
  result.centroids = program.centroids();
  result.statistics = device.statistics();
  if (!trace.empty()) device.write_trace(trace);
  return result;
}

double mib(Bytes bytes) { return static_cast<double>(bytes) / static_cast<double>(ebb::kMiB); }

void print_row(std::string_view name, Bytes memory, const Result& result, const Result& plain) {
  fmt::print("{:<16}{:>9.1f} MiB{:>12.2f} ms{:>9.2f} x", name, mib(memory), 1e3 * result.seconds,
             result.seconds / plain.seconds);
}

int run(Settings settings) {
  const std::unique_ptr<Kernels> kernels =
      settings.cuda ? kmeans::make_cuda_kernels() : kmeans::make_host_kernels();
  if (settings.points == 0) settings.points = settings.cuda ? 32 << 20 : 400'000;
  if (settings.chunk == 0) settings.chunk = settings.cuda ? 1 << 20 : 8192;
  const Bytes memory = memory_of(settings, *kernels);
  const Bytes limit = static_cast<Bytes>(settings.limit * static_cast<double>(memory)) / 512 * 512;
  fmt::print("{} points of {} coordinates, {} clusters, {} iterations, on {}\n", settings.points,
             settings.shape.dimensions, settings.shape.clusters, settings.iterations,
             settings.cuda ? "a CUDA device" : "the host backend");
  const Result plain = run_without_ebb(settings, *kernels);
  const Result roomy = run_with_ebb(settings, *kernels, memory + memory / 4, "");
  const Result limited = run_with_ebb(settings, *kernels, limit, settings.trace);
  fmt::print("{:<16}{:>13}{:>15}\n", "", "memory", "iteration");
  print_row("without Ebb", memory, plain, plain);
  fmt::print("\n");
  print_row("with Ebb", roomy.statistics.arena_high_water, roomy, plain);
  fmt::print("\n");
  print_row(fmt::format("limit {:.0f} %", 100 * settings.limit), limited.statistics.arena_high_water, limited,
            plain);
  fmt::print("   {:.0f} MiB moved out, {:.0f} MiB in\n", mib(limited.statistics.bytes_out),
             mib(limited.statistics.bytes_in));
  const bool same = plain.centroids == roomy.centroids && plain.centroids == limited.centroids;
  const bool kept = limited.statistics.arena_high_water <= limit;
  fmt::print("centroids: {}; limit of {:.1f} MiB: {}\n", same ? "identical" : "DIFFERENT", mib(limit),
             kept ? "kept" : "EXCEEDED");
  return same && kept ? 0 : 1;
}

constexpr std::string_view kUsage =
    "kmeans [--cuda] [--points N] [--chunk N] [--clusters N] [--dimensions N] [--iterations N]\n"
    "       [--limit SHARE] [--trace FILE]\n";

std::int64_t number(const std::string& text, std::int64_t least) {
  std::size_t end = 0;
  const std::int64_t value = std::stoll(text, &end);
  if (end != text.size() || value < least || value > (1ll << 40)) throw std::invalid_argument(text);
  return value;
}

std::optional<Settings> parse(int argc, char** argv) try {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--cuda") {
      settings.cuda = true;
      continue;
    }
    if (i + 1 == argc) return std::nullopt;
    const std::string value = argv[++i];
    const auto count = [&](std::int64_t least) { return static_cast<int>(number(value, least)); };
    if (option == "--points")
      settings.points = number(value, 1);
    else if (option == "--chunk")
      settings.chunk = count(1);
    else if (option == "--clusters")
      settings.shape.clusters = count(1);
    else if (option == "--dimensions")
      settings.shape.dimensions = count(1);
    else if (option == "--iterations")
      settings.iterations = count(2);
    else if (option == "--limit")
      settings.limit = std::stod(value);
    else if (option == "--trace")
      settings.trace = value;
    else
      return std::nullopt;
  }
  return settings;
} catch (const std::logic_error&) {
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::optional<Settings> settings = parse(argc, argv);
  if (!settings) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  return run(*settings);
} catch (const std::exception& error) {
  fmt::print(stderr, "kmeans: {}\n", error.what());
  return 1;
}
