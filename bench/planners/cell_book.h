// What was measured, one line of JSON per planner and cell, appended as it comes: a run that is stopped goes
// on where it was.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ebb::cells {

struct Cell {
  std::string step;
  std::string machine;
  int percent = 0;  // of the peak demand
  auto operator<=>(const Cell&) const = default;
};

// The best plan there was after some planning.
struct Moment {
  double cpu_seconds = 0;
  double ratio = 0;
  bool operator==(const Moment&) const = default;
};

struct Entry {
  std::optional<double> ratio;  // step time ÷ plain step time, or no plan
  double cpu_seconds = 0;
  std::vector<Moment> moments = {};  // of a planner that says how it gets on: whenever it got better
  bool operator==(const Entry&) const = default;
};

// "bound" is the planner's name of what no plan can beat.
inline constexpr const char* kBound = "bound";

class Book {
 public:
  // Reads what is there already; a later line for the same planner and cell replaces an earlier one.
  explicit Book(std::string path);

  const Entry* find(const Cell& cell, const std::string& planner) const;
  void add(const Cell& cell, const std::string& planner, const Entry& entry);
  const std::map<Cell, std::map<std::string, Entry>>& cells() const { return cells_; }

 private:
  std::string path_;
  std::map<Cell, std::map<std::string, Entry>> cells_;
};

}  // namespace ebb::cells
