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
  try {
    const Json told = Json::parse(read_maybe_gzipped(path(key)));
    if (told.at("version").get<int>() != kVersion) return std::nullopt;
    std::optional<TimedStep> step = decode_times(told.at("times").dump(), program);
    if (!step) return std::nullopt;
    const std::optional<Preparation> found =
        decode_preparation(told.at("preparation").dump(), step->program, capacity, ground);
    if (!found || !found->plan) return std::nullopt;
    return KeptPlan{found->plan, std::move(*step), told.at("searched").get<bool>()};
  } catch (const std::exception&) {
    // There is none, or its file is none of ours: as if there were none.
    return std::nullopt;
  }
}

bool KeptPlans::keep(const std::string& key, const KeptPlan& kept, Bytes capacity) const {
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
