#include "cli/chain_table.h"

#include <fmt/format.h>

#include "cli/table.h"
#include "machine/units.h"

namespace ebb::cli {
namespace {

constexpr std::size_t kNameWidth = 32;

std::string range(OpRange ops) {
  return ops.begin == ops.end ? "-" : fmt::format("{}-{}", ops.begin, ops.end - 1);
}

// The op that takes longest says what kind of layer it is.
std::string longest_op(const Program& program, OpRange ops) {
  OpIndex longest = ops.begin;
  for (OpIndex j = ops.begin; j < ops.end; ++j)
    if (program.op(j).duration > program.op(longest).duration) longest = j;
  return ops.begin == ops.end ? "" : program.op(longest).name;
}

std::string facts(const Program& program, const ChainView& view) {
  const Chain& chain = view.chain;
  Bytes activations = chain.output;
  for (std::size_t i = 0; i < chain.size(); ++i) activations += chain.x(i);
  Facts facts;
  facts.add("program", program.info().name);
  facts.add("layers", fmt::format("{} forward and backward, {} of compute", chain.size(),
                                  format_time(chain.compute_time())));
  facts.add("activations",
            fmt::format("{} MiB; {} skips reach over whole layers", mib(activations), view.skips.size()));
  facts.add("always there", fmt::format("{} MiB", mib(view.base)));
  facts.add("peak", fmt::format("{} MiB with that", mib(chain.peak() + view.base)));
  facts.add("smallest limit",
            fmt::format("{} MiB for plans of the chain", mib(chain.smallest_memory() + view.base)));
  return facts.text();
}

}  // namespace

std::string chain_text(const Program& program, const ChainView& view) {
  Table table;
  for (const char* header :
       {"layer", "F ops", "u_F", "|x| MiB", "blocks", "|y| MiB", "ex_F MiB", "ex_B MiB", "u_B", "B ops"})
    table.column(header);
  table.column("longest op", Align::left);
  for (std::size_t i = 0; i < view.parts.size(); ++i) {
    const ChainLayer& layer = view.chain.layers[i];
    const ChainPart& part = view.parts[i];
    table.row({fmt::format("{}", i), range(part.forward), format_time(layer.forward), mib(layer.input),
               fmt::format("{}", part.gaps.size()), mib(layer.gradient), mib(layer.forward_extra),
               mib(layer.backward_extra), format_time(layer.backward), range(part.backward),
               shortened(longest_op(program, part.forward), kNameWidth)});
  }
  table.row({"out", "", "", mib(view.chain.output), "", mib(view.chain.output_gradient), "", "", "", "", ""});
  return facts(program, view) + "\n" + table.text();
}

Json chain_json(const Program& program, const ChainView& view) {
  Json json = {{"program", program.info().name},
               {"base_bytes", view.base},
               {"peak_bytes", view.chain.peak()},
               {"smallest_memory_bytes", view.chain.smallest_memory()},
               {"bandwidth_bytes_per_s", view.chain.bandwidth},
               {"output_bytes", view.chain.output},
               {"output_gradient_bytes", view.chain.output_gradient},
               {"skips", view.skips},
               {"layers", Json::array()}};
  for (std::size_t i = 0; i < view.parts.size(); ++i) {
    const ChainLayer& layer = view.chain.layers[i];
    const ChainPart& part = view.parts[i];
    json["layers"].push_back({{"forward_ops", {part.forward.begin, part.forward.end}},
                              {"backward_ops", {part.backward.begin, part.backward.end}},
                              {"forward_ns", layer.forward},
                              {"backward_ns", layer.backward},
                              {"input_bytes", layer.input},
                              {"gradient_bytes", layer.gradient},
                              {"forward_extra_bytes", layer.forward_extra},
                              {"backward_extra_bytes", layer.backward_extra},
                              {"gaps", part.gaps}});
  }
  return json;
}

}  // namespace ebb::cli
