#include "report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace ebb::report {
namespace {

constexpr double kLeft = 80, kTop = 45, kWidth = 640, kHeight = 400, kRight = 210, kBottom = 60;
constexpr double kLegendStep = 20;
constexpr int kAboutTicks = 6;
constexpr std::array kColours = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd",
                                 "#8c564b", "#17becf", "#e377c2", "#7f7f7f", "#bcbd22"};

std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

// A range with round ends and the round step between its ticks.
struct Axis {
  double begin = 0;
  double end = 1;
  double step = 1;

  static Axis around(double low, double high) {
    if (high <= low) high = low + 1;
    const double rough = (high - low) / kAboutTicks;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double nice : {1.0, 2.0, 5.0})
      if (nice * power >= rough) {
        step = nice * power;
        break;
      }
    return {std::floor(low / step) * step, std::ceil(high / step) * step, step};
  }
  double share(double value) const { return (value - begin) / (end - begin); }
};

class Drawing {
 public:
  Drawing(const LineChart& chart, std::size_t number) : chart_(chart), number_(number) {
    double left = HUGE_VAL, right = -HUGE_VAL, low = chart.y_from, high = chart.y_from;
    for (const Line& line : chart.lines)
      for (const Point& point : line.points) {
        left = std::min(left, point.x);
        right = std::max(right, point.x);
        if (!std::isfinite(point.y)) continue;
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    if (left > right) left = 0, right = 1;
    if (chart.y_to > chart.y_from) high = chart.y_to;
    x_ = Axis::around(left, right);
    y_ = Axis::around(low, high);
  }

  std::string document() {
    add("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
        "font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n"
        "<clipPath id='frame{6}'><rect x='{2}' y='{3}' width='{4}' height='{5}'/></clipPath>\n",
        kLeft + kWidth + kRight, kTop + kHeight + kBottom, kLeft, kTop - 4, kWidth + 4, kHeight + 8, number_);
    add("<text x='{}' y='26' font-size='16'>{}</text>\n", kLeft, escape(chart_.title));
    add_axes();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) add_line(i);
    add("</svg>\n");
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  double across(double x) const { return kLeft + kWidth * x_.share(x); }
  double down(double y) const { return kTop + kHeight * (1 - y_.share(y)); }

  void add_axes() {
    for (int k = 0; y_.begin + k * y_.step <= y_.end + y_.step / 2; ++k) {
      const double value = y_.begin + k * y_.step;
      add("<path d='M{} {:.2f}h{}' stroke='#ddd'/><text x='{}' y='{:.2f}' text-anchor='end'>{:.6g}</text>\n",
          kLeft, down(value), kWidth, kLeft - 8, down(value) + 4, value);
    }
    for (int k = 0; x_.begin + k * x_.step <= x_.end + x_.step / 2; ++k) {
      const double value = x_.begin + k * x_.step;
      add("<path d='M{:.2f} {}v5' stroke='black'/><text x='{:.2f}' y='{}' "
          "text-anchor='middle'>{:.6g}</text>\n",
          across(value), kTop + kHeight, across(value), kTop + kHeight + 20, value);
    }
    add("<path d='M{} {}v{}h{}' fill='none' stroke='black'/>\n", kLeft, kTop, kHeight, kWidth);
    add("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n", kLeft + kWidth / 2, kTop + kHeight + 45,
        escape(chart_.x_label));
    add("<text transform='translate(18 {}) rotate(-90)' text-anchor='middle'>{}</text>\n", kTop + kHeight / 2,
        escape(chart_.y_label));
  }

  void add_line(std::size_t i) {
    const Line& line = chart_.lines[i];
    const char* colour = kColours[i % kColours.size()];
    const char* dashes = line.stroke == Stroke::dashed ? " stroke-dasharray='6 4'" : "";
    add("<path fill='none' stroke='{}' stroke-width='{}'{} clip-path='url(#frame{})' d='", colour,
        width_of(i), dashes, number_);
    add_path(line);
    add("'/>\n");
    const double y = kTop + 10 + kLegendStep * static_cast<double>(i);
    if (line.stroke == Stroke::marked) {
      for (const Point& point : line.points)
        if (std::isfinite(point.y))
          add("<path d='{}' fill='{}' clip-path='url(#frame{})'><title>{}: {:.6g}, {:.6g}</title></path>\n",
              mark(i, across(point.x), down(point.y)), colour, number_, escape(line.name), point.x, point.y);
      add("<path d='{}' fill='{}'/>\n", mark(i, kLeft + kWidth + 27, y), colour);
    }
    add("<path d='M{} {}h24' stroke='{}' stroke-width='2.5'{}/><text x='{}' y='{}'>{}</text>\n",
        kLeft + kWidth + 15, y, colour, dashes, kLeft + kWidth + 45, y + 4, escape(line.name));
  }

  // What is drawn first is wider, so that a line under another is still seen.
  double width_of(std::size_t i) const {
    return chart_.lines[i].stroke == Stroke::dashed
               ? 1.6
               : 1.4 + 0.6 * static_cast<double>(std::min<std::size_t>(chart_.lines.size() - 1 - i, 5));
  }

  // A disc, a square, a diamond or a triangle, by the number of the line.
  static std::string mark(std::size_t i, double x, double y) {
    switch (i % 4) {
      case 0:
        return fmt::format("M{:.2f} {:.2f}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", x - 3.5, y);
      case 1:
        return fmt::format("M{:.2f} {:.2f}h6v6h-6z", x - 3, y - 3);
      case 2:
        return fmt::format("M{:.2f} {:.2f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", x, y - 4.5);
      default:
        return fmt::format("M{:.2f} {:.2f}l4.2 7.2h-8.4z", x, y - 4.4);
    }
  }

  void add_path(const Line& line) {
    bool pen_up = true;
    for (const Point& point : line.points) {
      if (!std::isfinite(point.y)) {
        pen_up = true;
        continue;
      }
      if (!pen_up && line.stroke == Stroke::steps)
        add("H{:.2f}V{:.2f}", across(point.x), down(point.y));
      else
        add("{}{:.2f} {:.2f}", pen_up ? "M" : "L", across(point.x), down(point.y));
      pen_up = false;
    }
  }

  const LineChart& chart_;
  const std::size_t number_;  // ids in one document differ
  Axis x_, y_;
  std::string text_;
};

}  // namespace

std::string draw(const std::vector<LineChart>& charts) {
  const double height = kTop + kHeight + kBottom;
  if (charts.size() == 1) return Drawing(charts.front(), 0).document();
  std::string text =
      fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}'>\n",
                  kLeft + kWidth + kRight, height * static_cast<double>(charts.size()));
  for (std::size_t i = 0; i < charts.size(); ++i)
    text += fmt::format("<svg y='{}' height='{}'>\n{}</svg>\n", height * static_cast<double>(i), height,
                        Drawing(charts[i], i).document());
  return text + "</svg>\n";
}

}  // namespace ebb::report
