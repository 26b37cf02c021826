// Aligned text for people.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/quantities.h"

namespace ebb::cli {

enum class Align : char { left, right };

// Columns as wide as their widest cell, two spaces apart, under a header line.
//
//   planner    90%    70%
//   keep         -      -
//   ondemand  1.08   1.31
class Table {
 public:
  void column(std::string header, Align align = Align::right);
  // REQUIRES: one cell per column.
  void row(std::vector<std::string> cells);
  std::size_t rows() const { return rows_.size(); }
  std::string text() const;

 private:
  std::vector<std::pair<std::string, Align>> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Name and value, one per line, the values aligned. A name of "" continues the one above.
class Facts {
 public:
  void add(std::string name, std::string value);
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

// Columns on a terminal, not bytes: UTF-8 aware, one column per code point.
std::size_t width(std::string_view text);
// At most `most` columns: the middle is left out, as in "aten::native…backward".
std::string shortened(std::string_view text, std::size_t most);

std::string mib(Bytes bytes);             // "21371", "4.2", for columns headed MiB
std::string percent(double share);        // of 1: "49.7 %"
std::string factor(double ratio);         // "1.052"
double share(double part, double whole);  // 0 if there is no whole

}  // namespace ebb::cli
