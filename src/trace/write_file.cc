#include "trace/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "trace/error.h"

namespace ebb {
namespace {

class TemporaryFile {
 public:
  // Not by mkstemp: its files are the owner's alone, and what others may do with new ones can only be asked
  // by changing it for the whole process.
  explicit TemporaryFile(const std::string& target) : target_(target) {
    static std::atomic<int> files = 0;
    do {
      name_ = fmt::format("{}.{}-{}", target, ::getpid(), ++files);
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
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
