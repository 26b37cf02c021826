#include "planners/dqn/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "planners/dqn/small_step.h"

namespace ebb::dqn {
namespace {

bool connected(const Graph& graph, int u, int v) {
  const auto near = graph.neighbours(v);
  return std::find(near.begin(), near.end(), u) != near.end();
}

TEST(DqnGraph, HasAMallocAWriteReadsAndAFreeOfEveryBlock) {
  const ChainProblem chain(6, 4 * 150);
  std::map<BlockId, std::multiset<NodeKind>> kinds;
  for (int v = 1; v < chain.graph.size(); ++v) kinds[chain.graph[v].block].insert(chain.graph[v].kind);
  EXPECT_EQ(kinds.size(), chain.variables.size());
  for (const auto& [block, found] : kinds)
    EXPECT_EQ(found, (std::multiset<NodeKind>{NodeKind::malloc, NodeKind::read, NodeKind::read,
                                              NodeKind::write, NodeKind::free}))
        << "block " << block;
}

TEST(DqnGraph, ConnectsNeighboursInTimeAndNodesOfOneBlock) {
  const ChainProblem chain(6, 4 * 150);
  const Graph& graph = chain.graph;
  for (int u = 0; u < graph.size(); ++u)
    for (int v = 0; v < graph.size(); ++v) {
      const bool expected = std::abs(u - v) <= 1 || (u > 0 && v > 0 && graph[u].block == graph[v].block);
      EXPECT_EQ(connected(graph, u, v), expected) << u << " and " << v;
      EXPECT_EQ(graph.weight(u, v), graph.weight(v, u));
    }
  for (int v = 1; v < graph.size(); ++v) EXPECT_LE(graph[v - 1].op, graph[v].op);
}

TEST(DqnGraph, AWeightIsTheTimeBetweenTwoNodesPerStep) {
  const ChainProblem chain(6, 4 * 150);  // 12 ops of 100 ns
  const Graph& graph = chain.graph;
  for (int u = 1; u < graph.size(); ++u)
    for (int v = 1; v < graph.size(); ++v)
      if (graph[u].kind != NodeKind::free && graph[v].kind != NodeKind::free) {
        EXPECT_FLOAT_EQ(graph.weight(u, v), static_cast<float>(std::abs(graph[u].op - graph[v].op)) / 12);
      }
}

TEST(DqnGraph, EveryActionHasANodeOfItsOwn) {
  const ChainProblem chain(12, 5 * 150);
  std::set<int> taken = {0};
  for (int v = 0; v < static_cast<int>(chain.variables.size()); ++v) {
    const int offload = chain.graph.offload_node(v), remove = chain.graph.remove_node(v);
    ASSERT_GT(offload, 0);
    EXPECT_TRUE(taken.insert(offload).second);
    EXPECT_EQ(chain.graph[offload].action, Action::swap);
    EXPECT_EQ(chain.graph[offload].kind, NodeKind::read) << "offload stands at the read before the gap";
    EXPECT_EQ(chain.graph[offload].op, chain.variables[static_cast<std::size_t>(v)].from);
    ASSERT_GT(remove, 0);
    EXPECT_TRUE(taken.insert(remove).second);
    EXPECT_EQ(chain.graph[remove].kind, NodeKind::write) << "remove stands at the write";
    EXPECT_EQ(chain.graph[remove].variable, v);
  }
}

TEST(DqnGraph, FeaturesTellOffloadFromRemoveAndAreBounded) {
  const ChainProblem chain(12, 5 * 150);
  for (int v = 1; v < chain.graph.size(); ++v) {
    const Node& node = chain.graph[v];
    for (const float feature : node.features) EXPECT_TRUE(feature >= -1 && feature <= 10) << "node " << v;
    EXPECT_EQ(node.features[4], node.action == Action::keep ? 0 : node.action == Action::swap ? -1 : 1);
    EXPECT_EQ(node.features[kValidity], 0);
    EXPECT_FLOAT_EQ(node.features[0], 1) << "all blocks are as large as the largest";
  }
}

}  // namespace
}  // namespace ebb::dqn
