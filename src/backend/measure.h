// What a machine's links do, measured through a backend: numbers for a machine file.
//
// Compute is stood in for by copies within the device, which need its memory as much as anything can: the
// slow-down beside copies is that of the worst case.
#pragma once

#include "backend/backend.h"

namespace ebb {

struct MeasureOptions {
  Bytes copy = 32 * kMiB;  // large enough to reach the full rate
  int copies = 16;
  int small_copies = 200;  // of 4 KiB, for the latency
};

// Rates in bytes per second, factors of at least 1.
struct LinkMeasurement {
  double rate_out = 0;
  double rate_in = 0;
  double rate_both = 0;  // the sum, while both run
  Nanoseconds latency_out = 0;
  Nanoseconds latency_in = 0;
  double memory_rate = 0;  // of copies within the device, read and written
  double stretch_out = 1;  // of compute while copies run
  double stretch_in = 1;
  double stretch_both = 1;
  double pin_seconds_per_gib = 0;  // until a slab can be used
};

// Takes a few seconds at most. REQUIRES: the backend has reserved nothing yet; copy >= 4 KiB, copies >= 2.
LinkMeasurement measure_link(Backend& backend, const MeasureOptions& options = {});

}  // namespace ebb
