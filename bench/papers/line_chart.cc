#include "line_chart.h"

#include <fstream>
#include <stdexcept>

namespace ebb::papers {

void write_chart(const std::filesystem::path& path, const LineChart& chart) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << report::draw({chart});
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace ebb::papers
