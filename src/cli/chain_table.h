// A training step as a chain of layers, for people and for programs.
#pragma once

#include "cli/json.h"
#include "planners/chain/chain_view.h"

namespace ebb::cli {

std::string chain_text(const Program& program, const ChainView& view);
Json chain_json(const Program& program, const ChainView& view);

}  // namespace ebb::cli
