// Samples the stacks of threads of this process while they run, for host_samples.py, which builds it as a
// shared library: start_sampling, stop_sampling, write_samples. Not thread-safe, and one at a time.
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMost = 200'000;

struct Sample {
  int thread = 0;
  int depth = 0;
  void* frames[kDeepest] = {};
};

std::vector<Sample> samples;
std::atomic<std::size_t> taken = 0;
std::atomic<bool> sampling = false;
std::thread sampler;

void take_sample(int) {
  const std::size_t place = taken++;
  if (place >= samples.size()) return;
  samples[place].thread = static_cast<int>(syscall(SYS_gettid));
  samples[place].depth = backtrace(samples[place].frames, kDeepest);
}

}  // namespace

// Every so many microseconds, of the threads with these ids.
extern "C" void start_sampling(const int* threads, int count, int microseconds) {
  samples.assign(kMost, {});
  taken = 0;
  void* first[1];
  backtrace(first, 1);  // loads what it needs, which no handler may do
  struct sigaction action = {};
  action.sa_handler = take_sample;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sampling = true;
  sampler = std::thread([wanted = std::vector<int>(threads, threads + count), microseconds] {
    const timespec pause = {0, microseconds * 1000L};
    while (sampling) {
      for (const int thread : wanted) syscall(SYS_tgkill, getpid(), thread, SIGPROF);
      nanosleep(&pause, nullptr);
    }
  });
}

extern "C" void stop_sampling() {
  sampling = false;
  sampler.join();
}

namespace {

// file|offset|symbol
std::string described(void* frame) {
  Dl_info info = {};
  dladdr(frame, &info);
  char offset[32];
  std::snprintf(offset, sizeof offset, "|%zx|",
                reinterpret_cast<std::uintptr_t>(frame) - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  return (info.dli_fname ? info.dli_fname : "") + std::string(offset) +
         (info.dli_sname ? info.dli_sname : "");
}

}  // namespace

// A line a sample: thread, then frames from the innermost on. Returns how many there are.
extern "C" int write_samples(const char* path) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) return -1;
  std::unordered_map<void*, std::string> known;  // looking a symbol up takes long in a large library
  const std::size_t count = taken < samples.size() ? taken.load() : samples.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::fprintf(file, "%d", samples[i].thread);
    for (int k = 2; k < samples[i].depth; ++k) {  // without the handler and what calls it
      const auto [frame, is_new] = known.try_emplace(samples[i].frames[k]);
      if (is_new) frame->second = described(frame->first);
      std::fprintf(file, "\t%s", frame->second.c_str());
    }
    std::fprintf(file, "\n");
  }
  std::fclose(file);
  return static_cast<int>(count);
}
