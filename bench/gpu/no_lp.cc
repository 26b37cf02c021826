// Stands in for src/simulate/lp.cc where its solver is not installed: nothing is solved, and a program that
// was not solved bounds nothing.
#include <limits>

#include "simulate/lp.h"

namespace ebb {

LinearProgram::Column LinearProgram::add_column(double cost, double lower, double upper) {
  cost_.push_back(cost);
  column_lower_.push_back(lower);
  column_upper_.push_back(upper);
  return static_cast<Column>(cost_.size()) - 1;
}

LinearProgram::Row LinearProgram::add_at_least(double lower) {
  row_lower_.push_back(lower);
  return static_cast<Row>(row_lower_.size()) - 1;
}

LinearProgram::Row LinearProgram::add_at_most(double upper) {
  row_lower_.push_back(-upper);
  return static_cast<Row>(row_lower_.size()) - 1;
}

void LinearProgram::add_term(Row row, Column column, double coefficient) {
  terms_.push_back({row, column, coefficient});
}

LpSolution minimise(const LinearProgram& lp, double) {
  return {.status = LpStatus::stopped,
          .objective = 0,
          .bound = -std::numeric_limits<double>::infinity(),
          .values = std::vector<double>(static_cast<std::size_t>(lp.columns()), 0.0)};
}

}  // namespace ebb
