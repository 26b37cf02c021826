// Plays a Program on a Device: mallocs, frees and execs as recorded, with ops that take their time and touch
// no bytes. What it needs is made once and fetched before the clock is read, so that measuring it measures
// the Device. Whoever measures takes off what reading the clock costs: `clock_read` for every interval.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/device.h"

namespace ebb {

struct PlayerTimes {
  Nanoseconds exec = 0;      // in Device::exec and Device::free, all included
  Nanoseconds function = 0;  // of that, in the ops' functions
  std::int64_t execs = 0;
  std::int64_t functions = 0;  // replayed ones too
};

// What one reading of the clock takes. Two of them around something measure it too long by one, and the
// interval around both gets longer by two.
double clock_read();

class StepPlayer {
 public:
  // What an op does, the first time or `again`.
  using Work = std::function<void(const Op&, bool again)>;
  // REQUIRES: all outlive the player.
  StepPlayer(Device& device, const Program& program, Work work);
  ~StepPlayer();

  void iterate();
  // Until a plan is followed: false if it is known that there is none, or after so many iterations.
  bool iterate_until_planned(int most);
  PlayerTimes take_times() { return std::exchange(times_, {}); }

 private:
  struct Birth {
    BlockId block = 0;
    Bytes bytes = 0;
  };
  struct Call {
    std::vector<BlockId> read_blocks = {}, write_blocks = {}, effect_blocks = {};
    std::vector<Handle> reads = {}, writes = {}, effects = {};
    std::vector<Birth> births = {};
    std::vector<BlockId> deaths = {};
    OpInfo info = {};
    ExecFunction function = {};
  };
  void fetch(Call& call);
  void run(OpIndex op, ExecContext& context);

  Device& device_;
  const Program& program_;
  Work work_;
  std::vector<Handle> handles_;  // by block
  std::vector<Call> calls_;      // by op
  OpIndex current_ = kNoOp;      // that the program calls
  std::vector<Birth> births_;    // of that one …
  std::vector<BlockId> deaths_;  // … just read
  PlayerTimes times_;
};

}  // namespace ebb
