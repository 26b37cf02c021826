#include "machine/machine_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <variant>

#include "machine/presets.h"
#include "machine/units.h"
#include "trace/error.h"

namespace ebb {
namespace {

using Json = nlohmann::ordered_json;

// How a field's text is understood, and the values it may take.
enum class Kind { text, factor, number, bandwidth, optional_bandwidth, duration, flag, stretch, bytes };

struct Field {
  std::string_view name;
  Kind kind;
  std::variant<std::string Machine::*, double Machine::*, Bytes Machine::*, bool Machine::*, int> member;
};

// For stretches, the index into compute_stretch. Nanoseconds and Bytes are the same type.
constexpr std::array<Field, 23> kFields = {
    {{"name", Kind::text, &Machine::name},
     {"source", Kind::text, &Machine::source},
     {"compute_scale", Kind::factor, &Machine::compute_scale},
     {"teraflops", Kind::number, &Machine::teraflops},
     {"memory_gb_per_s", Kind::number, &Machine::memory_gb_per_s},
     {"bandwidth_out", Kind::bandwidth, &Machine::bandwidth_out},
     {"bandwidth_in", Kind::bandwidth, &Machine::bandwidth_in},
     {"bandwidth_both", Kind::optional_bandwidth, &Machine::bandwidth_both},
     {"latency_out", Kind::duration, &Machine::latency_out},
     {"latency_in", Kind::duration, &Machine::latency_in},
     {"op_issue", Kind::duration, &Machine::op_issue},
     {"follow_issue", Kind::duration, &Machine::follow_issue},
     {"replay_issue", Kind::duration, &Machine::replay_issue},
     {"copy_issue", Kind::duration, &Machine::copy_issue},
     {"host_lead", Kind::duration, &Machine::host_lead},
     {"exclusive", Kind::flag, &Machine::exclusive},
     {"stretch_out", Kind::stretch, 1},
     {"stretch_in", Kind::stretch, 2},
     {"stretch_both", Kind::stretch, 3},
     {"worst_stretch", Kind::flag, &Machine::worst_stretch},
     {"device_bytes", Kind::bytes, &Machine::device_bytes},
     {"host_bytes", Kind::bytes, &Machine::host_bytes},
     {"pin_seconds_per_gib", Kind::number, &Machine::pin_seconds_per_gib}}};
constexpr std::string_view kOpScale = "op_scale";
constexpr double kMillion = 1e6;

const Field& find_field(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Field& field : kFields) {
    if (field.name == name) return field;
    known.push_back(field.name);
  }
  throw InputError(
      fmt::format("a machine has no field '{}': it has {}, op_scale.NAME", name, fmt::join(known, ", ")));
}

double as_factor(double value, std::string_view field, double least) {
  if (!(value >= least && value <= 1e6) || (least == 0 && value == 0))
    throw InputError(fmt::format("{} = {} is out of range: it is a factor {}", field, value,
                                 least > 0 ? "of at least 1" : "above 0 and at most 1e6"));
  return value;
}

Bytes as_bandwidth(Bytes value, std::string_view field, bool may_be_zero) {
  if (value <= 0 && !(may_be_zero && value == 0))
    throw InputError(fmt::format("{} = {} is out of range: a link needs a bandwidth above 0", field, value));
  return value;
}

bool as_flag(std::string_view text, std::string_view field) {
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  throw InputError(fmt::format("{} = '{}' is neither true nor false", field, text));
}

void set_field(Machine& machine, const Field& field, std::string_view text) {
  auto member = [&](auto pointer) -> auto& { return machine.*std::get<decltype(pointer)>(field.member); };
  using Quantity = Bytes Machine::*;
  using Real = double Machine::*;
  switch (field.kind) {
    case Kind::text:
      member(static_cast<std::string Machine::*>(nullptr)) = text;
      return;
    case Kind::factor:
      member(Real{}) = as_factor(parse_number(text), field.name, 0);
      return;
    case Kind::number:
      member(Real{}) = parse_number(text);
      return;
    case Kind::bandwidth:
      member(Quantity{}) = as_bandwidth(parse_bandwidth(text), field.name, false);
      return;
    case Kind::optional_bandwidth:
      member(Quantity{}) = as_bandwidth(parse_bandwidth(text), field.name, true);
      return;
    case Kind::duration:
      member(Quantity{}) = parse_duration(text);
      return;
    case Kind::bytes:
      member(Quantity{}) = parse_bytes(text);
      return;
    case Kind::flag:
      member(static_cast<bool Machine::*>(nullptr)) = as_flag(text, field.name);
      return;
    case Kind::stretch:
      machine.compute_stretch[static_cast<std::size_t>(std::get<int>(field.member))] =
          std::llround(as_factor(parse_number(text), field.name, 1) * kMillion);
      return;
  }
}

void set_op_scale(Machine& machine, const std::string& op, double value) {
  machine.op_scale[op] = as_factor(value, fmt::format("op_scale.{}", op), 0);
}

// The text set_field reads; JSON numbers and flags print as themselves.
std::string as_text(const Json& value, std::string_view field) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw InputError(fmt::format("{} is a {}: a text, number or flag is needed", field, value.type_name()));
}

void read_op_scale(Machine& machine, const Json& scales) {
  if (!scales.is_object()) throw InputError("op_scale is not an object of op names and factors");
  for (const auto& [op, factor] : scales.items()) {
    if (!factor.is_number()) throw InputError(fmt::format("op_scale.{} is not a number", op));
    set_op_scale(machine, op, factor.get<double>());
  }
}

Machine read_fields(const Json& object) {
  if (!object.is_object()) throw InputError("a machine is a JSON object");
  Machine machine;
  if (object.contains("base")) machine = find_preset(as_text(object["base"], "base"));
  for (const auto& [name, value] : object.items()) {
    if (name == "base") continue;
    if (name == kOpScale)
      read_op_scale(machine, value);
    else
      set_field(machine, find_field(name), as_text(value, name));
  }
  as_bandwidth(machine.bandwidth_out, "bandwidth_out", false);
  as_bandwidth(machine.bandwidth_in, "bandwidth_in", false);
  return machine;
}

Json field_value(const Machine& machine, const Field& field) {
  if (field.kind == Kind::stretch)
    return static_cast<double>(
               machine.compute_stretch[static_cast<std::size_t>(std::get<int>(field.member))]) /
           kMillion;
  return std::visit(
      [&](auto pointer) -> Json {
        if constexpr (std::is_same_v<decltype(pointer), int>)
          return pointer;
        else
          return machine.*pointer;
      },
      field.member);
}

}  // namespace

void apply_override(Machine& machine, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw InputError(
        fmt::format("'{}' is not of the form field=value, as in bandwidth_in=12GB/s", assignment));
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view value = assignment.substr(equals + 1);
  if (name.starts_with(kOpScale) && name.size() > kOpScale.size() + 1 && name[kOpScale.size()] == '.')
    set_op_scale(machine, std::string(name.substr(kOpScale.size() + 1)), parse_number(value));
  else
    set_field(machine, find_field(name), value);
}

Machine parse_machine(std::string_view json, const std::string& place) {
  try {
    return read_fields(Json::parse(json));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  }
}

std::string to_json(const Machine& machine) {
  Json object;
  for (const Field& field : kFields) object[std::string(field.name)] = field_value(machine, field);
  object[std::string(kOpScale)] = machine.op_scale;
  return object.dump(2) + "\n";
}

Machine load_machine(const std::string& name_or_path) {
  const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  if (!is_path) return find_preset(name_or_path);
  std::ifstream file(name_or_path, std::ios::binary);
  if (!file) throw SystemError(fmt::format("cannot open machine file {}", name_or_path));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_machine(text.str(), name_or_path);
}

}  // namespace ebb
