#include "trace/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "trace/error.h"

namespace ebb {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const char* what, int reason = errno) {
  throw SystemError(fmt::format("{}: {}: {}", path, what, std::strerror(reason)));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }

  // What cannot be written is a failure of `path`.
  void write(std::string_view contents, const std::string& path) {
    while (!contents.empty()) {
      const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path, "cannot write");
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(path, "cannot close");
  }

 private:
  int descriptor_;
};

// Beside the target, and gone if it has not become the target.
class TemporaryName {
 public:
  // Not by mkstemp: its files are the owner's alone, and what others may do with new ones can only be asked
  // by changing it for the whole process.
  explicit TemporaryName(const std::string& target) {
    static std::atomic<int> files = 0;
    do {
      name_ = fmt::format("{}.{}-{}", target, ::getpid(), ++files);
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) fail(target, "cannot create a file beside it");
  }
  ~TemporaryName() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  int descriptor() const { return descriptor_; }  // the caller's
  void become(const std::string& target) {
    if (std::rename(name_.c_str(), target.c_str()) != 0) fail(target, "cannot rename into place");
    name_.clear();
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

// A file of the kernel's stands for another one, such as what standard output is at the moment.
bool is_kernels(const std::string& path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

// Where links end, whether there is a file or not.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;
  std::error_code none;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, none); ++i)
    path = (fs::path(path).parent_path() / fs::read_symlink(path, none)).string();
  return path;
}

void write_into(const std::string& path, std::string_view contents) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot open");
  File(descriptor).write(contents, path);
}

// What there is at a path, links followed.
struct Old {
  explicit Old(const std::string& path) {
    exists = ::stat(path.c_str(), &status) == 0;
    stays = exists && (!S_ISREG(status.st_mode) || is_kernels(path));
  }
  struct stat status = {};
  bool exists = false;
  bool stays = false;  // it is written into
};

}  // namespace

void require_writable_file(const std::string& path) {
  const Old old(path);
  const std::string folder = fs::path(behind_links(path)).parent_path().string();
  const std::string needed = old.stays ? path : folder.empty() ? "." : folder;
  if (old.exists && S_ISDIR(old.status.st_mode))
    throw SystemError(fmt::format("cannot write {}: it is a folder", path));
  if (::access(needed.c_str(), old.stays ? W_OK : W_OK | X_OK) != 0)
    throw SystemError(fmt::format("cannot write {}: {}: {}", path, needed, std::strerror(errno)));
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  const Old old(path);
  if (old.stays) return write_into(path, contents);
  const std::string target = behind_links(path);
  TemporaryName temporary(target);
  File file(temporary.descriptor());
  if (old.exists) static_cast<void>(::fchmod(file.descriptor(), old.status.st_mode & 07777));
  file.write(contents, path);
  temporary.become(target);
}

}  // namespace ebb
