#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "cli/command.h"
#include "cli/tool.h"
#include "learning/dqn_planner.h"
#include "trace/error.h"

namespace {

using ebb::cli::Answer;
using ebb::cli::ExitCode;

int complain(const char* sentence, ExitCode code) {
  fmt::print(stderr, "ebb: {}\n", sentence);
  return static_cast<int>(code);
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw ebb::SystemError(fmt::format("cannot write to the standard output: {}", std::strerror(errno)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ebb::learning::register_dqn();
    ebb::cli::Tool tool;
    const Answer answer = tool.run(argc, argv);
    print(answer.text);
    return answer.complaint.empty() ? static_cast<int>(answer.code)
                                    : complain(answer.complaint.c_str(), answer.code);
  } catch (const ebb::InputError& error) {
    return complain(error.what(), ExitCode::bad_input);
  } catch (const ebb::SystemError& error) {
    return complain(error.what(), ExitCode::system_error);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", ExitCode::system_error);
  } catch (const std::exception& error) {
    return complain(fmt::format("a defect of Ebb: {}", error.what()).c_str(), ExitCode::system_error);
  }
}
