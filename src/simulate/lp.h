// Linear programs: build one, minimise it. The solver behind it (COIN-OR Clp) appears in lp.cc only.
#pragma once

#include <cstdint>
#include <vector>

namespace ebb {

// Minimise Σ cost · x subject to lower ≤ Σ coefficient · x ≤ upper in each row and in each column.
class LinearProgram {
 public:
  using Column = std::int32_t;
  using Row = std::int32_t;

  // REQUIRES: finite bounds, so that every set of row prices gives a valid bound on the optimum.
  Column add_column(double cost, double lower, double upper);
  Row add_at_least(double lower);
  Row add_at_most(double upper);
  void add_term(Row row, Column column, double coefficient);

  double cost(Column column) const { return cost_[static_cast<std::size_t>(column)]; }
  void add_cost(Column column, double more) { cost_[static_cast<std::size_t>(column)] += more; }
  int columns() const { return static_cast<int>(cost_.size()); }
  int rows() const { return static_cast<int>(row_lower_.size()); }

 private:
  friend struct LpSolution;
  friend struct LpSolution minimise(const LinearProgram& lp, double seconds);
  struct Term {
    Row row;
    Column column;
    double coefficient;
  };
  // The least the objective can be, given any prices of the rows: weak duality, with no trust in the solver.
  double dual_bound(std::vector<double> prices) const;

  std::vector<double> cost_, column_lower_, column_upper_, row_lower_, row_upper_;
  std::vector<Term> terms_;
};

enum class LpStatus : char { optimal, infeasible, stopped };

struct LpSolution {
  LpStatus status = LpStatus::stopped;
  double objective = 0;  // of `values`, as the solver left them
  double bound = 0;      // no feasible point is below this, whatever the status says
  std::vector<double> values;
};

LpSolution minimise(const LinearProgram& lp, double seconds = 3600);

}  // namespace ebb
