// This machine's links as a Machine, by a measurement of a few seconds.
#pragma once

#include <string_view>

#include "machine/machine.h"

namespace ebb::cli {

// `backend`: "host", "cuda", or "any": CUDA if Ebb was built with it and there is a GPU, else host. Throws
// SystemError if CUDA was asked for and cannot be had.
Machine measure_machine(std::string_view backend);

}  // namespace ebb::cli
