// What ranks tell each other about an iteration they have in common: the times each has measured, and the
// plan that one of them made, packed and scheduled. Texts are JSON.
#pragma once

#include <optional>

#include "runtime/prepared_plan.h"
#include "runtime/timed_step.h"

namespace ebb {

std::string encode_times(const TimedStep& step);
// The step with the times of whoever takes longest for it, this one included, and the slowest links of all.
// Texts of another number of ops, or that are none, count for nothing.
TimedStep slowest_of(TimedStep step, const std::vector<std::string>& others);

// `capacity`: of the arena that the plan was packed into.
std::string encode_preparation(const Preparation& preparation, const TimedStep& step, Bytes capacity);
// Nothing if the text is none, or if the plan, judged anew for this program and capacity, does not hold.
std::optional<Preparation> decode_preparation(const std::string& text, const Program& program,
                                              Bytes capacity);

}  // namespace ebb
