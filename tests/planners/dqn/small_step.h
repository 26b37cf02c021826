// A chain of forward and backward that a newcomer can follow: block i is written by op i, read by op i + 1 in
// forward and by op 2n − i in backward, and freed then. Ops take 100 ns, a copy 1 ns a byte.
#pragma once

#include "literal_programs.h"
#include "planners/dqn/environment.h"

namespace ebb::dqn {

inline Program chain_step(OpIndex layers, Bytes bytes = 150) {
  std::vector<Op> ops;
  std::vector<Block> blocks;
  for (OpIndex i = 0; i < layers; ++i) {
    ops.push_back(i == 0 ? op({writes(0)}, 100) : op({reads(i - 1), writes(i)}, 100));
    ops.back().phase = Phase::forward;
    blocks.push_back(local(bytes, i, 2 * layers - 1 - i));
  }
  for (OpIndex i = layers - 1; i >= 0; --i) {
    ops.push_back(op({reads(i)}, 100));
    ops.back().phase = Phase::backward;
  }
  return literal_program(std::move(ops), std::move(blocks));
}

struct ChainProblem {
  Program program;
  Gaps gaps{program};
  Machine machine;
  PlannerOptions options = {};
  PlanningProblem problem;
  std::vector<Variable> variables;
  Graph graph;

  ChainProblem(OpIndex layers, Bytes limit, PlannerOptions given = {}, VariableRules rules = {},
               Bytes bandwidth = 1'000'000'000)
      : program(chain_step(layers)),
        machine{.bandwidth_out = bandwidth, .bandwidth_in = bandwidth},
        options(std::move(given)),
        problem{program, gaps, machine, limit},
        variables(find_variables(problem, options, rules)),
        graph(problem, variables, options) {}
};

}  // namespace ebb::dqn
