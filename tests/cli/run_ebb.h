// Runs the real tool, as a user would.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ebb::cli {

struct Outcome {
  int code = -1;  // exit code; 128 + signal if it was killed
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
  // Is stderr "ebb: …" on one line?
  bool complains_in_one_line() const;
};

Outcome run_ebb(const std::vector<std::string>& arguments);
// The same through the shell, with `ebb` standing for the tool: pipes and redirections.
Outcome run_shell(const std::string& command_line);

// A bundled trace, e.g. "resnet50".
std::string bundled(const std::string& name);

// A folder of its own that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes the file and returns its path.
  std::string file(const std::string& name, const std::string& contents) const;
  std::vector<std::string> names() const;  // of the files in it, sorted

 private:
  std::string path_;
};

std::string slurp(const std::string& path);

}  // namespace ebb::cli
