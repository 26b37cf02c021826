// The matrices W₁ … W₈ of [DQN] eq. 1–3. They fit every graph: learnt on a small one, they are a start on a
// large one.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::dqn {

struct Weights {
  // p × 6, p × p, p × p, p × 1, p × p, p × p, 1 × 3p, p × p
  std::array<Eigen::MatrixXf, 8> matrices;

  // As in the paper, from 1.
  const Eigen::MatrixXf& w(int i) const { return matrices[static_cast<std::size_t>(i) - 1]; }
  int width() const { return static_cast<int>(w(1).rows()); }
  bool operator==(const Weights& other) const;

  static Weights random(int width, std::uint64_t seed);
  static std::array<std::pair<int, int>, 8> shapes(int width);
};

// JSON, with every float exact.
std::string to_text(const Weights& weights);
// Throws InputError if the text is not what to_text writes.
Weights parse_weights(std::string_view text);

}  // namespace ebb::dqn
