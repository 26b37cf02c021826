// A figure of a paper, drawn again and written to a file.
#pragma once

#include <filesystem>

#include "report/line_chart.h"

namespace ebb::papers {

using report::Line;
using report::LineChart;
using report::Point;
using report::Stroke;

// Creates the folder if it is not there. Throws std::runtime_error if the file cannot be written.
void write_chart(const std::filesystem::path& path, const LineChart& chart);

}  // namespace ebb::papers
