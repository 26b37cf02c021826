#include "cli/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "trace/error.h"

namespace ebb::cli {
namespace {

namespace fs = std::filesystem;

// All that a handover can contain: what an outer `ebb run` set does not leak into an inner `ebb record`.
constexpr std::array kHandedOver = {"EBB_LIMIT",  "EBB_PLANNER", "EBB_RECOMPUTE", "EBB_HOST_LIMIT",
                                    "EBB_DEVICE", "EBB_REPORT",  "EBB_RECORD",    "EBB_PLANS"};

bool holds_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "ebb" / "startup" / "sitecustomize.py", ignored);
}

fs::path tool_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) throw SystemError(fmt::format("cannot find out where the tool lies: {}", error.message()));
  return path;
}

// <prefix>/lib/python3.12/site-packages and the like, whatever the version.
std::vector<fs::path> versioned_folders(const fs::path& library) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(library, ignored))
    if (entry.path().filename().string().starts_with("python"))
      for (const char* name : {"dist-packages", "site-packages"}) folders.push_back(entry.path() / name);
  return folders;
}

void prepend(const char* variable, const std::string& value) {
  const char* present = std::getenv(variable);
  const std::string joined = present && *present ? fmt::format("{}:{}", value, present) : value;
  ::setenv(variable, joined.c_str(), 1);
}

}  // namespace

std::string package_folder() {
  const fs::path prefix = tool_path().parent_path().parent_path();
  std::vector<fs::path> places{prefix / "python"};
  for (const fs::path& folder : versioned_folders(prefix / "lib")) places.push_back(folder);
  std::vector<std::string> names;
  for (const fs::path& place : places) {
    if (holds_package(place)) return place.string();
    names.push_back(place.string());
  }
  throw InputError(
      fmt::format("the Python package of Ebb is not there: looked in {}; was Ebb built without PyTorch?",
                  fmt::join(names, ", ")));
}

void become(const std::vector<std::string>& program, const Handover& handover) {
  const std::string package = package_folder();
  prepend("PYTHONPATH", fmt::format("{0}/ebb/startup:{0}", package));
  for (const char* name : kHandedOver) ::unsetenv(name);
  for (const auto& [name, value] : handover) ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv("EBB_PROCESS", std::to_string(::getpid()).c_str(), 1);

  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  throw SystemError(fmt::format("cannot run {}: {}", program.front(), std::strerror(errno)));
}

}  // namespace ebb::cli
