#include "trace/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "trace/error.h"

namespace ebb {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) : target_(target), name_(target + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) fail("cannot create a file beside it");
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view contents) {
    while (!contents.empty()) {
      const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write");
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void rename_to_target() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, 0666 & ~mask) != 0) fail("cannot set its permissions");
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("cannot close");
    if (std::rename(name_.c_str(), target_.c_str()) != 0) fail("cannot rename into place");
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const int reason = errno;
    if (descriptor_ < 0 && !renamed_) ::unlink(name_.c_str());
    throw SystemError(fmt::format("{}: {}: {}", target_, what, std::strerror(reason)));
  }

  const std::string& target_;
  std::string name_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_file_atomically(const std::string& path, std::string_view contents) {
  TemporaryFile file(path);
  file.write(contents);
  file.rename_to_target();
}

}  // namespace ebb
