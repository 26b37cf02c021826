#include "layout/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ebb::layout {
namespace {

constexpr double kLeft = 90, kTop = 50, kWidth = 1000, kHeight = 600;
constexpr double kRight = 30, kBottom = 60;
constexpr int kTicks = 5;

std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string human(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

class Picture {
 public:
  Picture(const Problem& problem, const Layout& layout) : problem_(problem), layout_(layout) {
    begin_ = problem.period || problem.buffers.empty() ? 0 : problem.buffers.front().begin;
    end_ = problem.period.value_or(begin_ + 1);
    for (const Buffer& buffer : problem.buffers) {
      if (problem.period) break;
      begin_ = std::min(begin_, buffer.begin);
      end_ = std::max(end_, buffer.end);
    }
    find_bases();
  }

  std::string draw(const std::string& title) {
    add("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
        "font-family='sans-serif' font-size='13'>\n",
        kLeft + kWidth + kRight, kTop + kHeight + kBottom);
    add("<rect width='100%' height='100%' fill='white'/>\n");
    add("<text x='{}' y='28' font-size='16'>{}: footprint {}, load {}, ratio {:.4f}</text>\n", kLeft,
        escape(title), human(static_cast<double>(layout_.footprint)),
        human(static_cast<double>(layout_.load)), layout_.ratio());
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) draw_buffer(i);
    draw_axes();
    add("</svg>\n");
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  // Arenas above each other, each where the one below ends.
  void find_bases() {
    const int arenas =
        layout_.arenas.empty() ? 1 : *std::max_element(layout_.arenas.begin(), layout_.arenas.end()) + 1;
    std::vector<Bytes> heights(arenas, 0);
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      Bytes& height = heights[arena_of(i)];
      height = std::max(height, layout_.offsets[i] + problem_.buffers[i].size);
    }
    for (const Bytes height : heights) {
      bases_.push_back(highest_);
      highest_ += height;
    }
    highest_ = std::max<Bytes>({highest_, layout_.footprint, layout_.load, 1});
  }

  int arena_of(std::size_t i) const { return layout_.arenas.empty() ? 0 : layout_.arenas[i]; }
  double x(Time time) const {
    return kLeft + kWidth * static_cast<double>(time - begin_) / static_cast<double>(end_ - begin_);
  }
  double y(Bytes address) const {
    return kTop + kHeight * (1 - static_cast<double>(address) / static_cast<double>(highest_));
  }

  void draw_buffer(std::size_t i) {
    const Buffer& buffer = problem_.buffers[i];
    if (problem_.period && buffer.end > *problem_.period) {
      draw_rectangle(i, buffer.begin, *problem_.period);
      draw_rectangle(i, 0, buffer.end - *problem_.period);
    } else {
      draw_rectangle(i, buffer.begin, buffer.end);
    }
  }

  void draw_rectangle(std::size_t i, Time begin, Time end) {
    const Buffer& buffer = problem_.buffers[i];
    const Bytes offset = bases_[arena_of(i)] + layout_.offsets[i];
    const std::size_t hue = i * 137 % 360;  // neighbours in the input get colours far apart
    add("<rect x='{:.2f}' y='{:.2f}' width='{:.2f}' height='{:.2f}' fill='hsl({},60%,72%)' "
        "stroke='#333' stroke-width='0.3'><title>buffer {}: time [{}, {}), offset {}, size {} "
        "({})</title></rect>\n",
        x(begin), y(offset + buffer.size), x(end) - x(begin), y(offset) - y(offset + buffer.size), hue,
        buffer.id, buffer.begin, buffer.end, layout_.offsets[i], buffer.size,
        human(static_cast<double>(buffer.size)));
  }

  void draw_axes() {
    add("<path d='M{0} {1}V{2}H{3}' fill='none' stroke='black'/>\n", kLeft, kTop, kTop + kHeight,
        kLeft + kWidth);
    for (int k = 0; k <= kTicks; ++k) {
      const Time time = begin_ + (end_ - begin_) / kTicks * k;
      const double address = static_cast<double>(highest_) * k / kTicks;
      add("<text x='{:.2f}' y='{}' text-anchor='middle'>{}</text>\n", x(time), kTop + kHeight + 20, time);
      add("<text x='{}' y='{:.2f}' text-anchor='end'>{}</text>\n", kLeft - 8,
          kTop + kHeight * (1 - static_cast<double>(k) / kTicks) + 4, human(address));
    }
    add("<text x='{}' y='{}' text-anchor='middle'>logical time</text>\n", kLeft + kWidth / 2,
        kTop + kHeight + 45);
    add("<text transform='translate(18 {}) rotate(-90)' text-anchor='middle'>address</text>\n",
        kTop + kHeight / 2);
    add("<path d='M{0} {1:.2f}H{2}' stroke='#c00' stroke-dasharray='6 4'><title>peak load: {3} "
        "bytes</title></path>\n",
        kLeft, y(layout_.load), kLeft + kWidth, layout_.load);
  }

  const Problem& problem_;
  const Layout& layout_;
  Time begin_ = 0, end_ = 1;
  Bytes highest_ = 0;
  std::vector<Bytes> bases_;
  std::string text_;
};

}  // namespace

std::string draw_svg(const Problem& problem, const Layout& layout, const std::string& title) {
  return Picture(problem, layout).draw(title);
}

}  // namespace ebb::layout
