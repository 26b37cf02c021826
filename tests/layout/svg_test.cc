#include "layout/svg.h"

#include <gtest/gtest.h>

namespace ebb::layout {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const Problem kTwo{.buffers = {{.id = 10, .begin = 0, .end = 4, .size = 1024},
                               {.id = 20, .begin = 3, .end = 6, .size = 512}}};
const Layout kLayout{.fits = true, .offsets = {0, 1024}, .footprint = 1536, .load = 1536};

TEST(Svg, DrawsARectangleWithATitlePerBuffer) {
  const std::string svg = draw_svg(kTwo, kLayout, "two");
  EXPECT_EQ(count(svg, "<title>buffer "), 2);
  EXPECT_NE(svg.find("<title>buffer 20: time [3, 6), offset 1024, size 512 (512 B)</title>"),
            std::string::npos);
  EXPECT_EQ(svg.rfind("</svg>\n"), svg.size() - 7);
}

TEST(Svg, LabelsItsAxes) {
  const std::string svg = draw_svg(kTwo, kLayout, "two");
  EXPECT_NE(svg.find(">logical time<"), std::string::npos);
  EXPECT_NE(svg.find(">address<"), std::string::npos);
}

TEST(Svg, DrawsAWrappingBufferInTwoPieces) {
  const Problem ring{.buffers = {{.id = 1, .begin = 8, .end = 12, .size = 512}}, .period = 10};
  const Layout layout{.fits = true, .offsets = {0}, .footprint = 512, .load = 512};
  EXPECT_EQ(count(draw_svg(ring, layout, "ring"), "<title>buffer "), 2);
}

TEST(Svg, StacksArenas) {
  Layout layout = kLayout;
  layout.offsets = {0, 0};
  layout.arenas = {0, 1};
  EXPECT_NE(draw_svg(kTwo, layout, "arenas").find("offset 0, size 512"), std::string::npos);
}

TEST(Svg, EscapesTheTitleAndDrawsAnEmptyProblem) {
  const std::string svg = draw_svg({}, {.fits = true}, "a<b & c");
  EXPECT_NE(svg.find("a&lt;b &amp; c"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace ebb::layout
