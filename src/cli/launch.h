// Running a training program with the Python package underneath it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ebb::cli {

// What python/ebb/autostart.py reads from the environment.
using Handover = std::vector<std::pair<std::string, std::string>>;

// Where the Python package `ebb` lies, seen from the tool: the build tree, an install prefix, an environment
// that pip installed into. Throws InputError naming the places looked at.
std::string package_folder();

// Becomes the program. Python started in it, however deep, runs startup/sitecustomize.py of the package.
// Throws SystemError if it cannot be run; does not return otherwise.
[[noreturn]] void become(const std::vector<std::string>& program, const Handover& handover);

}  // namespace ebb::cli
