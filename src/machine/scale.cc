#include "machine/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "trace/error.h"

namespace ebb {
namespace {

constexpr std::array<std::string_view, 8> kArithmetic = {"conv",   "mm",        "matmul", "linear",
                                                         "einsum", "attention", "lstm",   "gemm"};

double ratio(double recorded, double wanted, const Machine& from, const Machine& to, std::string_view what) {
  if (recorded <= 0 || wanted <= 0)
    throw InputError(fmt::format("cannot scale from '{}' to '{}': {} of '{}' is not known", from.name,
                                 to.name, what, recorded <= 0 ? from.name : to.name));
  return recorded / wanted;
}

}  // namespace

OpKind op_kind(std::string_view op_name) {
  std::string lower(op_name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool arithmetic = std::any_of(kArithmetic.begin(), kArithmetic.end(), [&](std::string_view part) {
    return lower.find(part) != std::string::npos;
  });
  return arithmetic ? OpKind::arithmetic : OpKind::traffic;
}

Machine scale_to(Machine machine, const Machine& recorded_on, const Program& program) {
  const double arithmetic =
      ratio(recorded_on.teraflops, machine.teraflops, recorded_on, machine, "teraflops");
  const double traffic =
      ratio(recorded_on.memory_gb_per_s, machine.memory_gb_per_s, recorded_on, machine, "memory_gb_per_s");
  for (const Op& op : program.ops())
    machine.op_scale[op.name] = op_kind(op.name) == OpKind::arithmetic ? arithmetic : traffic;
  return machine;
}

Machine match_step_time(Machine machine, const Program& program, Nanoseconds target) {
  machine.compute_scale = 1;
  double now = 0;
  for (const Op& op : program.ops()) now += static_cast<double>(machine.op_time(op));
  if (now <= 0 || target <= 0)
    throw InputError(fmt::format("cannot match a step of {} ns: the program's ops take {} ns", target, now));
  machine.compute_scale = static_cast<double>(target) / now;
  return machine;
}

Machine stretched_as(Machine machine, const Program& program) {
  if (!machine.worst_stretch || machine.memory_gb_per_s <= 0) return machine;
  double all = 0, moving = 0;
  for (const Op& op : program.ops()) {
    Bytes moved = 0;
    for (const Access& access : op.accesses)
      moved += program.block(access.block).bytes * (Bytes{access.reads} + Bytes{access.writes});
    const auto time = static_cast<double>(machine.op_time(op));
    all += time;
    moving += std::min(time, static_cast<double>(moved) / machine.memory_gb_per_s);
  }
  const double share = all > 0 ? moving / all : 0;
  for (std::int64_t& stretch : machine.compute_stretch)
    stretch = kNoStretch + std::llround(share * static_cast<double>(stretch - kNoStretch));
  machine.worst_stretch = false;
  return machine;
}

}  // namespace ebb
