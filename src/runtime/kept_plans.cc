#include "runtime/kept_plans.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/shared_plan.h"
#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/write_file.h"

namespace ebb {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr const char* kEnding = ".plan.json";
constexpr std::size_t kMostFiles = 256;
constexpr std::chrono::hours kUnfinished{1};  // a file that is still being written is younger

// Nothing if there is none, or if it is none of ours.
std::optional<Json> read(const std::string& path) {
  try {
    Json told = Json::parse(read_maybe_gzipped(path));
    if (told.at("version").get<int>() == kVersion) return told;
  } catch (const std::exception&) {
    // As if there were none.
  }
  return std::nullopt;
}

// One process at a time, where the file system knows how; elsewhere whoever writes last is right.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0) static_cast<void>(::flock(descriptor_, LOCK_EX));
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

KeptPlans::KeptPlans(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw SystemError(fmt::format("cannot keep plans in {}: {}", folder_, error.message()));
  if (::access(folder_.c_str(), R_OK | W_OK | X_OK) != 0)
    throw SystemError(fmt::format("cannot keep plans in {}: {}", folder_, std::strerror(errno)));
}

std::string KeptPlans::path(const std::string& name) const { return folder_ + "/" + name + kEnding; }

std::optional<KeptPlan> KeptPlans::find(const std::string& name, const Program& program, Bytes capacity,
                                        Bytes ground) const {
  const std::optional<Json> told = read(path(name));
  if (!told) return std::nullopt;
  try {
    std::optional<TimedStep> step = decode_times(told->at("times").dump(), program);
    if (!step) return std::nullopt;
    const std::optional<Preparation> found =
        decode_preparation(told->at("preparation").dump(), step->program, capacity, ground);
    if (!found || !found->plan) return std::nullopt;
    const bool searched = told->at("searched").get<bool>();
    std::error_code error;
    fs::last_write_time(path(name), fs::file_time_type::clock::now(), error);
    return KeptPlan{found->plan, std::move(*step), searched};
  } catch (const Json::exception&) {
    return std::nullopt;  // cut short
  }
}

bool KeptPlans::keep(const std::string& name, const KeptPlan& kept, Bytes capacity) const {
  const FolderLock alone(folder_);
  if (!kept.searched) {
    const std::optional<KeptPlan> there = find(name, kept.step.program, capacity, kept.plan->ground);
    if (there && there->searched) return true;
  }
  forget_the_oldest();
  return write(name, kept, capacity);
}

bool KeptPlans::write(const std::string& name, const KeptPlan& kept, Bytes capacity) const {
  const Json text{{"version", kVersion},
                  {"searched", kept.searched},
                  {"times", Json::parse(encode_times(kept.step))},
                  {"preparation", Json::parse(encode_preparation({.plan = kept.plan}, kept.step, capacity))}};
  try {
    write_file_atomically(path(name), text.dump());
  } catch (const SystemError&) {
    return false;
  }
  return true;
}

// Nothing but plans, and what processes that ended in the middle left of them.
void KeptPlans::forget_the_oldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> plans;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;
    const fs::file_time_type time = it->last_write_time(gone);
    if (gone || name.find(kEnding) == std::string::npos) continue;
    if (name.ends_with(kEnding))
      plans.emplace_back(time, it->path());
    else if (time < fs::file_time_type::clock::now() - kUnfinished)
      fs::remove(it->path(), gone);
  }
  if (plans.size() < kMostFiles) return;
  const auto newest = plans.end() - static_cast<std::ptrdiff_t>(kMostFiles - 1);
  std::nth_element(plans.begin(), newest, plans.end());
  for (auto it = plans.begin(); it != newest; ++it) fs::remove(it->second, error);
}

}  // namespace ebb
