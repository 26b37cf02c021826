#include "plan/turn.h"

#include <algorithm>

namespace ebb {
namespace {

bool says_backward(const Op& op) {
  return op.name.find("backward") != std::string::npos || op.name.find("Backward") != std::string::npos;
}

}  // namespace

OpIndex find_turn(const Program& program) {
  const std::vector<Op>& ops = program.ops();
  auto first = std::find_if(ops.begin(), ops.end(), [](const Op& op) { return op.phase == Phase::backward; });
  if (first == ops.end()) first = std::find_if(ops.begin(), ops.end(), says_backward);
  return first == ops.end() ? program.peak_op() + 1 : static_cast<OpIndex>(first - ops.begin());
}

}  // namespace ebb
