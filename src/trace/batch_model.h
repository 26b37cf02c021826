// A training step at batch sizes that were not recorded, from two that were.
#pragma once

#include "trace/program.h"

namespace ebb {

// The batch size that a step trace says it was recorded at; 0 if it does not say. Throws SystemError if the
// file cannot be read.
std::int64_t recorded_batch(const std::string& path);

// Every size and every time is taken as a straight line through the two recordings: activations grow with the
// batch, weights do not, a kernel has a fixed part and one per sample. What shrinks from the smaller batch to
// the larger (noise, another algorithm with less workspace) is not drawn on beyond it.
class BatchModel {
 public:
  // Throws InputError naming the first op or block in which the two are not the same step, or if the batch
  // sizes are not two different ones.
  BatchModel(Program one, std::int64_t batch_of_one, Program other, std::int64_t batch_of_other);

  // REQUIRES: batch >= 1.
  Program at(std::int64_t batch) const;
  std::int64_t smaller() const { return small_batch_; }
  std::int64_t larger() const { return large_batch_; }

 private:
  std::int64_t between(std::int64_t small, std::int64_t large, std::int64_t batch) const;

  Program small_, large_;
  std::int64_t small_batch_, large_batch_;
};

}  // namespace ebb
