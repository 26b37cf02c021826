// Machines as text: JSON files, and single fields on the command line. One table of fields serves both.
//
//   {"base": "h200", "name": "h200-gen3", "bandwidth_in": "12GB/s", "op_scale": {"aten::convolution": 1.4}}
//
// Numbers without a unit are bytes, bytes per second or nanoseconds; stretches are factors (1.012).
#pragma once

#include <string>
#include <string_view>

#include "machine/machine.h"

namespace ebb {

// "field=value", e.g. "bandwidth_in=12GB/s", "latency_out=10us", "exclusive=true", "stretch_both=1.03",
// "op_scale.aten::convolution=1.4". Throws InputError naming field and value.
void apply_override(Machine& machine, std::string_view assignment);

// Starts from the preset named by "base" if there is one, and from an empty machine with both bandwidths
// required if not. `place` begins every message. Throws InputError for an unknown field, a wrong kind, a
// value out of range.
Machine parse_machine(std::string_view json, const std::string& place);
// All fields, exactly: parse_machine gives the same machine back.
std::string to_json(const Machine& machine);

// A preset's name, or the path of a JSON file (anything with a '/' or ending in ".json").
Machine load_machine(const std::string& name_or_path);

}  // namespace ebb
