// What is told of an iteration that others run too, in other processes or later: the times that were
// measured, and a plan, packed and scheduled. Texts are JSON.
#pragma once

#include <optional>

#include "runtime/prepared_plan.h"
#include "runtime/timed_step.h"

namespace ebb {

std::string encode_times(const TimedStep& step);
// Those times for this program. Nothing if the text is none, or has another number of ops.
std::optional<TimedStep> decode_times(const std::string& text, const Program& program);
// The step with the times of whoever takes longest for it, this one included, and the slowest links of all.
// Texts of another number of ops, or that are none, count for nothing.
TimedStep slowest_of(TimedStep step, const std::vector<std::string>& others);

// `capacity`: of the arena that the plan was packed into.
std::string encode_preparation(const Preparation& preparation, const TimedStep& step, Bytes capacity);
// Nothing if the text is none, or if the plan, judged anew for this program and capacity, does not hold.
// `ground`: of the arena here, wherever it was made.
std::optional<Preparation> decode_preparation(const std::string& text, const Program& program, Bytes capacity,
                                              Bytes ground);

}  // namespace ebb
