// What a search may spend. Searches take from it, so that one budget serves several of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace ebb::layout {

struct SearchBudget {
  std::int64_t steps = 0;  // of about a microsecond each; the same number gives the same result
  std::optional<std::chrono::steady_clock::time_point> deadline = {};

  bool is_late() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
  bool is_spent() const { return steps <= 0 || is_late(); }

  static SearchBudget start(std::int64_t steps, std::optional<double> seconds) {
    SearchBudget budget{.steps = steps};
    if (seconds) {
      budget.deadline =
          std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                 std::chrono::duration<double>(*seconds));
    }
    return budget;
  }

  // Lets `spend(share)` use at most `most` of the remaining steps.
  template <typename Spend>
  auto lend(std::int64_t most, Spend&& spend) {
    SearchBudget share{.steps = steps < most ? steps : most, .deadline = deadline};
    steps -= share.steps;
    auto result = spend(share);
    steps += share.steps > 0 ? share.steps : 0;
    return result;
  }
};

}  // namespace ebb::layout
