// The machine that plans are made for, as a backend finds it.
#pragma once

#include "backend/measure.h"
#include "machine/machine.h"

namespace ebb {

// REQUIRES and costs as measure_link. The name and the source are the caller's to set.
Machine measured_machine(Backend& backend, const MeasureOptions& options = {});

}  // namespace ebb
