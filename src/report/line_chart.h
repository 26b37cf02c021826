// Curves as a self-contained SVG document: what a figure of a paper becomes.
#pragma once

#include <string>
#include <vector>

namespace ebb::report {

struct Point {
  double x = 0;
  double y = 0;  // not finite: the line is broken here, e.g. where a planner found no plan
};

enum class Stroke : char { plain, marked, steps, dashed };

struct Line {
  std::string name;
  std::vector<Point> points;
  Stroke stroke = Stroke::plain;
};

// Axes cover all finite points; the y axis also covers `y_from` and ends at `y_to` if that is above it.
struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;
  double y_from = 0;
  double y_to = 0;  // 0: as high as the points go; what lies above is cut off
};

// One below the other.
std::string draw(const std::vector<LineChart>& charts);

}  // namespace ebb::report
