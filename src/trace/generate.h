// Networks of any depth and any length as Programs, so that [SUB]'s curves can be drawn without a GPU.
#pragma once

#include "trace/network.h"

namespace ebb {

// The residual network of [SUB] §5.2: batch norm and activation before each convolution, bottlenecks of
// three, four stages that grow together in the proportions of ResNet-50.
struct ResNetConfig {
  int depth = 50;  // convolutions; rounded to whole bottlenecks
  int batch = 32;
  int image = 224;
  int classes = 1000;
};

// The recurrent network of [SUB] §5.3, every gate an op of its own.
struct LstmConfig {
  int steps = 64;  // how far it is unrolled
  int layers = 4;
  int hidden = 1024;
  int batch = 64;
  int inputs = 50;
  int classes = 5000;
};

// Throw InputError if a number is out of range.
Program generate_resnet(const ResNetConfig& config, const Speed& speed);
Program generate_lstm(const LstmConfig& config, const Speed& speed);

}  // namespace ebb
