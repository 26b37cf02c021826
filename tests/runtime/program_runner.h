// Plays a Program on a Device, iteration after iteration, beside the same on plain memory. Every op checks
// all bytes it reads, also when it is replayed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "random_programs.h"
#include "runtime/device.h"
#include "runtime/workload.h"

namespace ebb::testing {

// How bytes of the device are read and written by a test.
struct ByteAccess {
  std::function<void(std::byte* to, const std::byte* device, std::size_t bytes)> load = {};
  std::function<void(std::byte* device, const std::byte* from, std::size_t bytes)> store = {};
};

struct RunnerOptions {
  Bytes unit = 512;                        // device bytes per byte of the program
  bool births_outside = false;             // every third birth is malloc'd before its op
  std::function<void(OpIndex)> work = {};  // what an op does beside its bytes
  ByteAccess bytes = {};                   // nothing: device memory is ordinary memory
};

// What one iteration does differently.
struct Variation {
  OpIndex leave_out = kNoOp;  // only an op without births can be
  OpIndex one_more_after = kNoOp;
  bool half_sizes = false;     // of what is born in it
  OpIndex stop_after = kNoOp;  // the rest of the iteration is not run
};

class ProgramRunner {
 public:
  ProgramRunner(Device& device, const Program& program, const RunnerOptions& options = {});
  ~ProgramRunner();

  // Mallocs and fills what lives before the first iteration; that does it too if nobody did.
  void start();
  void iterate(const Variation& variation = {});
  // Reads and frees all that is left.
  void finish();

  int wrong_reads() const { return *wrong_; }
  // BackendError and OutOfMemory that passed; what the op was to make is then made up. If even that fails, it
  // passes on: the program cannot go on.
  int failures() const { return failures_; }
  const std::string& last_failure() const { return last_failure_; }

 private:
  struct Live {
    Handle handle = 0;
    Content content = {};
  };
  struct Call;

  Live make(BlockId block, Bytes bytes);
  Bytes bytes_of(BlockId block, bool half) const;
  void run(OpIndex op, bool half);
  void one_more();
  void failed(const std::exception& error);
  Handle malloc_at_last(Bytes bytes);
  void refill(Live& live);
  std::vector<Live>& instances(BlockId block) { return live_[static_cast<std::size_t>(block)]; }
  void free_dead(OpIndex op);

  Device& device_;
  const Program& program_;
  RunnerOptions options_;
  std::vector<std::vector<Live>> live_;  // by block; a wrapping one may have two
  std::shared_ptr<int> wrong_ = std::make_shared<int>(0);
  std::uint64_t calls_ = 0;
  bool started_ = false;
  int failures_ = 0;
  std::string last_failure_;
};

// Iterates until a plan is followed, or so many iterations; waits for planning now and then.
bool run_until_planned(ProgramRunner& runner, Device& device, int most_iterations);

}  // namespace ebb::testing
