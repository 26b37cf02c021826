// A random program on a Device beside the same program on plain memory. Every op checks all bytes it reads
// against the plain run, whenever it runs: the first time, once more after being abandoned, or in a replay.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace ebb::testing {

using Content = std::vector<std::byte>;

std::uint64_t hash_of(const std::byte* data, std::size_t bytes);
// bytes[i] ^= i-th byte of a stream that the seed determines.
void scramble(std::byte* data, std::size_t bytes, std::uint64_t seed);

struct WorkloadOptions {
  Bytes limit = 0;
  Bytes largest_block = 8192;
  double largest_op = 0.8;           // operands and mallocs of an op, as a part of the limit
  double largest_in_place_op = 0.4;  // the same for ops that cannot be abandoned
  double most_live = 3;              // bytes alive, in limits
  bool pins = true;
  bool throwing_ops = true;
  bool nested_ops = true;
  bool faults = false;  // BackendError and OutOfMemory may happen
};

class Workload {
 public:
  Workload(Device& device, std::uint64_t seed, const WorkloadOptions& options);
  ~Workload();

  void step();
  // Reads all blocks, frees them.
  void finish();

  int wrong_reads() const { return *wrong_; }
  int failures() const { return failures_; }  // OutOfMemory or BackendError that passed
  int unexpected() const { return unexpected_; }
  const std::string& last_failure() const { return last_failure_; }

 private:
  struct Item {
    Handle handle = 0;
    Content content;
    bool defined = false;
    std::optional<Pin> pin = {};
    bool pinned_for_writing = false;
  };
  struct OpScript;

  std::size_t random(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }
  Bytes random_size();
  Bytes live_bytes() const;
  Item* random_item(bool defined);
  void do_malloc();
  void do_free();
  void do_pin();
  void do_unpin();
  void do_op();
  void run(const std::shared_ptr<OpScript>& script);
  // An op failed between two changes in place: the block has its old bytes if the op was abandoned, else the
  // flipped ones.
  void settle_flipped(Handle handle);
  void failed(const std::exception& error, bool expected);
  bool any_pinned() const;

  Device& device_;
  WorkloadOptions options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Item>> items_;
  std::shared_ptr<int> wrong_ = std::make_shared<int>(0);
  int failures_ = 0;
  int unexpected_ = 0;
  std::string last_failure_;
};

}  // namespace ebb::testing
