#include "plan/plan_file.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "machine/machine_file.h"
#include "trace/error.h"
#include "trace/fingerprint.h"
#include "trace/gzip.h"
#include "trace/write_file.h"

namespace ebb {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "ebb-plan";
constexpr Bytes kLargestLimit = Bytes{1} << 60;

struct Timing {
  std::string_view name;
  OpIndex Decision::*member;
};
constexpr std::array<Timing, 6> kTimings = {{{"out_after", &Decision::out_after},
                                             {"out_by", &Decision::out_by},
                                             {"in_from", &Decision::in_from},
                                             {"in_by", &Decision::in_by},
                                             {"out_order", &Decision::out_order},
                                             {"in_order", &Decision::in_order}}};
constexpr std::array<std::string_view, 3> kKinds = {"between", "wrapping", "trailing"};
constexpr std::array<std::string_view, 3> kActions = {"keep", "swap", "recompute"};

std::string_view name_of(GapKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Action action) { return kActions[static_cast<std::size_t>(action)]; }

Json to_json(const Gap& gap, const Decision& decision) {
  Json object = {{"block", gap.block},
                 {"from", gap.from},
                 {"to", gap.to},
                 {"kind", name_of(gap.kind)},
                 {"action", name_of(decision.action)}};
  if (decision.action == Action::swap)
    for (const Timing& timing : kTimings)
      if (const OpIndex value = decision.*timing.member; value != kAuto)
        object[std::string(timing.name)] = value;
  if (decision.action == Action::recompute && decision.stays) {
    object["stays"] = Json::array();
    for (const OpRange& stay : *decision.stays) object["stays"].push_back({stay.begin, stay.end});
  }
  return object;
}

// Reads one file; every complaint says where in it.
class PlanReader {
 public:
  PlanReader(const std::string& file, const Program& program, const Gaps& gaps)
      : file_(file), program_(program), gaps_(gaps), place_(file) {}

  PlanRecord read(std::string_view text) {
    const Json root = parse(text);
    check_format(root);
    check_program(member(root, "program"));
    PlanRecord record{.limit = integer(root, "limit_bytes", 0, kLargestLimit),
                      .machine = parse_machine(member(root, "machine").dump(), file_ + ": machine"),
                      .planner = text_of(root, "planner"),
                      .plan = Plan::keep_all(gaps_)};
    const Json& decisions = member(root, "decisions");
    if (!decisions.is_array()) fail("\"decisions\" is not a list");
    decided_.assign(record.plan.decisions.size(), false);
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      place_ = fmt::format("{}: decisions[{}]", file_, i);
      read_decision(decisions[i], record.plan);
    }
    return record;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(fmt::format("{}: {}", place_, problem));
  }

  Json parse(std::string_view text) const {
    try {
      return Json::parse(text);
    } catch (const nlohmann::json::exception& error) {
      fail(fmt::format("malformed JSON: {}", error.what()));
    }
  }

  const Json& member(const Json& object, const char* name) const {
    const auto found = object.find(name);
    if (found == object.end()) fail(fmt::format("\"{}\" is missing", name));
    return *found;
  }

  std::int64_t to_integer(const Json& value, std::string_view name, std::int64_t least,
                          std::int64_t most) const {
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                          : value.is_number_integer();
    if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
      fail(
          fmt::format("\"{}\" is {}: an integer from {} to {} is expected", name, value.dump(), least, most));
    return value.get<std::int64_t>();
  }

  std::int64_t integer(const Json& object, const char* name, std::int64_t least, std::int64_t most) const {
    return to_integer(member(object, name), name, least, most);
  }

  OpIndex position(const Json& value, std::string_view name) const {
    const OpIndex n = program_.op_count();
    return static_cast<OpIndex>(to_integer(value, name, -n, 2 * n));
  }

  std::string text_of(const Json& object, const char* name) const {
    const Json& value = member(object, name);
    if (!value.is_string()) fail(fmt::format("\"{}\" is {}: a text is expected", name, value.dump()));
    return value.get<std::string>();
  }

  template <typename Enum>
  Enum choice(const Json& object, const char* name, const std::array<std::string_view, 3>& names) const {
    const std::string text = text_of(object, name);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == text) return static_cast<Enum>(i);
    fail(fmt::format("\"{}\" is \"{}\": one of {}, {}, {} is expected", name, text, names[0], names[1],
                     names[2]));
  }

  void check_format(const Json& root) const {
    if (!root.is_object() || root.value("format", Json()) != kFormat)
      fail("not an Ebb plan (\"format\": \"ebb-plan\")");
    const std::int64_t version = integer(root, "version", 1, INT32_MAX);
    if (version != kPlanVersion)
      fail(fmt::format("plan version {}, but this Ebb reads version {}", version, kPlanVersion));
  }

  void check_program(const Json& program) const {
    if (!program.is_object()) fail("\"program\" is not an object");
    const std::string theirs = text_of(program, "fingerprint");
    const std::string ours = fingerprint_text(fingerprint(program_));
    if (theirs != ours)
      fail(fmt::format(
          "made for the program \"{}\" of {} ops with fingerprint {}, not for this one: \"{}\" of {} ops "
          "with fingerprint {}",
          text_of(program, "name"), integer(program, "ops", 0, INT32_MAX), theirs, program_.info().name,
          program_.op_count(), ours));
  }

  GapId find_gap(const Json& object) const {
    const auto block = static_cast<BlockId>(integer(object, "block", 0, INT32_MAX));
    const auto from = static_cast<OpIndex>(integer(object, "from", 0, INT32_MAX));
    const auto to = static_cast<OpIndex>(integer(object, "to", 0, INT32_MAX));
    const auto kind = choice<GapKind>(object, "kind", kKinds);
    const GapId found = block < program_.block_count() ? gaps_.find(block, from) : -1;
    if (found < 0 || gaps_[found].to != to || gaps_[found].kind != kind)
      fail(fmt::format("the program has no {} gap of block {} from op {} to {}", name_of(kind), block, from,
                       to));
    return found;
  }

  void read_decision(const Json& object, Plan& plan) {
    if (!object.is_object()) fail("not an object");
    const GapId gap = find_gap(object);
    if (decided_[static_cast<std::size_t>(gap)])
      fail(fmt::format("the gap of block {} from op {} is decided twice", gaps_[gap].block, gaps_[gap].from));
    decided_[static_cast<std::size_t>(gap)] = true;
    Decision& decision = plan[gap];
    decision.action = choice<Action>(object, "action", kActions);
    for (const auto& [name, value] : object.items()) read_field(name, value, decision);
  }

  void read_field(const std::string& name, const Json& value, Decision& decision) const {
    for (std::string_view known : {"block", "from", "to", "kind", "action"})
      if (name == known) return;
    for (const Timing& timing : kTimings) {
      if (timing.name != name) continue;
      if (decision.action != Action::swap) fail(fmt::format("\"{}\" belongs to a swap", name));
      const bool rank = timing.member == &Decision::out_order || timing.member == &Decision::in_order;
      decision.*timing.member = rank ? static_cast<OpIndex>(to_integer(value, name, INT32_MIN + 1, INT32_MAX))
                                     : position(value, name);
      return;
    }
    if (name != "stays") fail(fmt::format("unknown field \"{}\"", name));
    if (decision.action != Action::recompute) fail("\"stays\" belong to a recompute");
    decision.stays = read_stays(value);
  }

  std::vector<OpRange> read_stays(const Json& list) const {
    if (!list.is_array()) fail("\"stays\" is not a list");
    std::vector<OpRange> stays;
    for (const Json& pair : list) {
      if (!pair.is_array() || pair.size() != 2)
        fail(fmt::format("the stay {} is not a pair [begin, end]", pair.dump()));
      const OpRange stay{position(pair[0], "stays"), position(pair[1], "stays")};
      if (stay.begin >= stay.end) fail(fmt::format("the stay [{}, {}] is empty", stay.begin, stay.end));
      if (!stays.empty() && stay.begin < stays.back().end)
        fail(fmt::format("the stay [{}, {}] begins before the one before it ends", stay.begin, stay.end));
      stays.push_back(stay);
    }
    return stays;
  }

  const std::string& file_;
  const Program& program_;
  const Gaps& gaps_;
  std::string place_;
  std::vector<bool> decided_;
};

}  // namespace

std::string encode_plan(const PlanRecord& record, const Program& program, const Gaps& gaps) {
  const Json head = {{"format", kFormat},
                     {"version", kPlanVersion},
                     {"program",
                      {{"name", program.info().name},
                       {"ops", program.op_count()},
                       {"fingerprint", fingerprint_text(fingerprint(program))}}},
                     {"limit_bytes", record.limit},
                     {"planner", record.planner},
                     {"machine", Json::parse(to_json(record.machine))}};
  std::string text = head.dump(1, ' ', false, Json::error_handler_t::replace);
  text.erase(text.rfind("\n}"));
  text += ",\n \"decisions\": [";
  std::string_view separator = "\n  ";
  for (GapId g = 0; g < gaps.count(); ++g) {
    if (record.plan[g].action == Action::keep) continue;
    text += separator;
    text += to_json(gaps[g], record.plan[g]).dump();
    separator = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

void write_plan(const std::string& path, const PlanRecord& record, const Program& program, const Gaps& gaps) {
  write_file_atomically(path, encode_plan(record, program, gaps));
}

PlanRecord decode_plan(std::string_view json, const std::string& file, const Program& program,
                       const Gaps& gaps) {
  return PlanReader(file, program, gaps).read(json);
}

PlanRecord read_plan(const std::string& path, const Program& program, const Gaps& gaps) {
  return decode_plan(read_maybe_gzipped(path), path, program, gaps);
}

}  // namespace ebb
