#include "cli/run_ebb.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ebb::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

bool Outcome::complains_in_one_line() const {
  return err.starts_with("ebb: ") && std::count(err.begin(), err.end(), '\n') == 1 && err.back() == '\n';
}

Outcome run_shell(const std::string& command_line) {
  const TemporaryFolder folder;
  const std::string script = "ebb() { " EBB_BINARY_DIR "/bin/ebb \"$@\"; }; { " + command_line + "; } >" +
                             quoted(folder.path("out")) + " 2>" + quoted(folder.path("err"));
  const int status = std::system(script.c_str());
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = slurp(folder.path("out")),
          .err = slurp(folder.path("err"))};
}

Outcome run_ebb(const std::vector<std::string>& arguments) {
  std::string line = "ebb";
  for (const std::string& argument : arguments) line += " " + quoted(argument);
  return run_shell(line);
}

std::string bundled(const std::string& name) { return EBB_SOURCE_DIR "/data/" + name + ".json.gz"; }

TemporaryFolder::TemporaryFolder()
    : path_((std::filesystem::temp_directory_path() / "ebb-cli-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name, const std::string& contents) const {
  std::ofstream(path(name), std::ios::binary) << contents;
  return path(name);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace ebb::cli
