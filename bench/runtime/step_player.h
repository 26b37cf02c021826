// Plays a Program on a Device: mallocs, frees and execs as recorded, with ops that take their time and touch
// no bytes. What it needs is made once, so that measuring it measures the Device.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/device.h"

namespace ebb {

struct PlayerTimes {
  Nanoseconds exec = 0;      // in Device::exec, all included
  Nanoseconds function = 0;  // of that, in the ops' functions
  std::int64_t execs = 0;
};

class StepPlayer {
 public:
  // `work` is called in each op. REQUIRES: all outlive the player.
  StepPlayer(Device& device, const Program& program, std::function<void(const Op&)> work);
  ~StepPlayer();

  void iterate();
  PlayerTimes take_times() { return std::exchange(times_, {}); }

 private:
  struct Call {
    std::vector<BlockId> read_blocks = {}, write_blocks = {}, effect_blocks = {};
    std::vector<Handle> reads = {}, writes = {}, effects = {};
    ExecFunction function = {};
  };
  void run(OpIndex op, ExecContext& context);

  Device& device_;
  const Program& program_;
  std::function<void(const Op&)> work_;
  std::vector<Handle> handles_;  // by block
  std::vector<Call> calls_;      // by op
  OpIndex current_ = kNoOp;      // that the program calls
  PlayerTimes times_;
};

}  // namespace ebb
