// A kernel that takes a given time.
#pragma once

#include <cuda_runtime_api.h>

void launch_spin(long long nanoseconds, cudaStream_t stream);
