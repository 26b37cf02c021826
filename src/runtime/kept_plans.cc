#include "runtime/kept_plans.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/shared_plan.h"
#include "trace/error.h"
#include "trace/gzip.h"
#include "trace/write_file.h"

namespace ebb {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

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

}  // namespace

KeptPlans::KeptPlans(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw SystemError(fmt::format("cannot keep plans in {}: {}", folder_, error.message()));
  if (::access(folder_.c_str(), R_OK | W_OK | X_OK) != 0)
    throw SystemError(fmt::format("cannot keep plans in {}: {}", folder_, std::strerror(errno)));
}

std::string KeptPlans::path(const std::string& key) const { return folder_ + "/" + key + ".plan.json"; }

std::optional<KeptPlan> KeptPlans::find(const std::string& key, const Program& program, Bytes capacity,
                                        Bytes ground) const {
  const std::optional<Json> told = read(path(key));
  if (!told) return std::nullopt;
  try {
    std::optional<TimedStep> step = decode_times(told->at("times").dump(), program);
    if (!step) return std::nullopt;
    const std::optional<Preparation> found =
        decode_preparation(told->at("preparation").dump(), step->program, capacity, ground);
    if (!found || !found->plan) return std::nullopt;
    return KeptPlan{found->plan, std::move(*step), told->at("searched").get<bool>()};
  } catch (const Json::exception&) {
    return std::nullopt;  // cut short
  }
}

bool KeptPlans::has_searched(const std::string& key) const {
  const std::optional<Json> told = read(path(key));
  return told && told->contains("searched") && told->at("searched") == true;
}

bool KeptPlans::keep(const std::string& key, const KeptPlan& kept, Bytes capacity) const {
  if (!kept.searched && has_searched(key)) return true;
  const Json text{{"version", kVersion},
                  {"searched", kept.searched},
                  {"times", Json::parse(encode_times(kept.step))},
                  {"preparation", Json::parse(encode_preparation({.plan = kept.plan}, kept.step, capacity))}};
  try {
    write_file_atomically(path(key), text.dump());
  } catch (const SystemError&) {
    return false;
  }
  return true;
}

}  // namespace ebb
