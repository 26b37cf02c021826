#include "simulate/lp.h"

#include <Clp_C_Interface.h>

#include <cassert>
#include <cmath>
#include <limits>
#include <memory>

namespace ebb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct FreeModel {
  void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};

struct FreeOptions {
  void operator()(Clp_Solve* options) const { ClpSolve_delete(options); }
};

// Compressed columns, as Clp wants them.
struct Matrix {
  std::vector<CoinBigIndex> first;
  std::vector<int> row;
  std::vector<double> value;
};

}  // namespace

LinearProgram::Column LinearProgram::add_column(double cost, double lower, double upper) {
  assert(std::isfinite(lower) && std::isfinite(upper) && "a column needs finite bounds");
  cost_.push_back(cost);
  column_lower_.push_back(lower);
  column_upper_.push_back(upper);
  return columns() - 1;
}

LinearProgram::Row LinearProgram::add_at_least(double lower) {
  row_lower_.push_back(lower);
  row_upper_.push_back(kInfinity);
  return rows() - 1;
}

LinearProgram::Row LinearProgram::add_at_most(double upper) {
  row_lower_.push_back(-kInfinity);
  row_upper_.push_back(upper);
  return rows() - 1;
}

void LinearProgram::add_term(Row row, Column column, double coefficient) {
  if (coefficient != 0) terms_.push_back({row, column, coefficient});
}

double LinearProgram::dual_bound(std::vector<double> prices) const {
  long double bound = 0;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const double side = prices[i] > 0 ? row_lower_[i] : row_upper_[i];
    if (!std::isfinite(side) || !std::isfinite(prices[i])) prices[i] = 0;
    if (prices[i] != 0) bound += static_cast<long double>(prices[i]) * side;
  }
  std::vector<long double> reduced(cost_.begin(), cost_.end());
  for (const Term& term : terms_)
    reduced[static_cast<std::size_t>(term.column)] -=
        static_cast<long double>(prices[static_cast<std::size_t>(term.row)]) * term.coefficient;
  for (std::size_t j = 0; j < reduced.size(); ++j)
    bound += reduced[j] * (reduced[j] > 0 ? column_lower_[j] : column_upper_[j]);
  return static_cast<double>(bound);
}

LpSolution minimise(const LinearProgram& lp, double seconds) {
  const auto columns = static_cast<std::size_t>(lp.columns());
  Matrix matrix;
  matrix.first.assign(columns + 1, 0);
  matrix.row.resize(lp.terms_.size());
  matrix.value.resize(lp.terms_.size());
  for (const auto& term : lp.terms_) ++matrix.first[static_cast<std::size_t>(term.column) + 1];
  for (std::size_t j = 0; j < columns; ++j) matrix.first[j + 1] += matrix.first[j];
  auto next = matrix.first;
  for (const auto& term : lp.terms_) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(term.column)]++);
    matrix.row[at] = term.row;
    matrix.value[at] = term.coefficient;
  }
  const std::unique_ptr<Clp_Simplex, FreeModel> model(Clp_newModel());
  Clp_setLogLevel(model.get(), 0);
  Clp_setMaximumSeconds(model.get(), seconds);
  Clp_loadProblem(model.get(), lp.columns(), lp.rows(), matrix.first.data(), matrix.row.data(),
                  matrix.value.data(), lp.column_lower_.data(), lp.column_upper_.data(), lp.cost_.data(),
                  lp.row_lower_.data(), lp.row_upper_.data());
  // The programs of the bounds are wide and loose: primal simplex needs a tenth of the time of dual.
  const std::unique_ptr<Clp_Solve, FreeOptions> options(ClpSolve_new());
  constexpr int kPrimal = 1;
  ClpSolve_setSolveType(options.get(), kPrimal, -1);
  Clp_initialSolveWithOptions(model.get(), options.get());

  LpSolution solution;
  const int status = Clp_status(model.get());
  solution.status = status == 0 ? LpStatus::optimal : status == 1 ? LpStatus::infeasible : LpStatus::stopped;
  solution.objective = Clp_objectiveValue(model.get());
  const double* values = Clp_primalColumnSolution(model.get());
  solution.values.assign(values, values + lp.columns());
  const double* prices = Clp_dualRowSolution(model.get());
  solution.bound = lp.dual_bound({prices, prices + lp.rows()});
  return solution;
}

}  // namespace ebb
