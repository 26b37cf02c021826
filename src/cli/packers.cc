#include "cli/packers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "layout/heuristics.h"
#include "layout/online.h"
#include "layout/validate.h"
#include "trace/error.h"

namespace ebb::cli {
namespace {

using layout::CachingAllocator;
using layout::Fit;
using layout::Layout;
using layout::Order;
using layout::PackOptions;
using layout::Problem;

// A heuristic knows no capacity: what it makes fits or does not.
Layout within(Layout layout, const PackOptions& options) {
  if (!options.capacity || layout.footprint <= *options.capacity) return layout;
  layout.fits = false;
  layout.offsets.clear();
  return layout;
}

Packer smartpool(std::string_view name, std::string_view summary, Fit fit) {
  return {name, summary, true, [fit](const Problem& problem, const PackOptions& options) {
            return within(layout::pack_smartpool(problem, fit, options.alignment), options);
          }};
}

Packer greedy(std::string_view name, std::string_view summary, Order order, Fit fit) {
  return {name, summary, true, [order, fit](const Problem& problem, const PackOptions& options) {
            return within(layout::pack_greedily(problem, order, fit, options.alignment), options);
          }};
}

Packer model(std::string_view name, std::string_view summary, Bytes (*footprint_of)(const Problem&)) {
  return {name, summary, false, [footprint_of](const Problem& problem, const PackOptions& options) {
            Layout layout;
            layout.fits = true;
            layout.footprint = footprint_of(problem);
            layout.load = layout.lower_bound = layout::peak_load(problem, options.alignment);
            return within(std::move(layout), options);
          }};
}

std::vector<Packer> make_packers() {
  using Segments = CachingAllocator::Segments;
  return {
      {"pack", "searches for footprint = load, and says when no layout is smaller", true, layout::pack},
      smartpool("smartpool-best", "[SP] §III: largest first, best fit", Fit::kBest),
      smartpool("smartpool-first", "[SP] §III: largest first, first fit", Fit::kFirst),
      greedy("area-best", "largest size x duration first, best fit", Order::kArea, Fit::kBest),
      greedy("area-first", "largest size x duration first, first fit", Order::kArea, Fit::kFirst),
      greedy("duration-best", "longest first, best fit", Order::kDuration, Fit::kBest),
      greedy("duration-first", "longest first, first fit", Order::kDuration, Fit::kFirst),
      greedy("birth-best", "in order of birth, best fit", Order::kBirth, Fit::kBest),
      greedy("birth-first", "in order of birth, first fit", Order::kBirth, Fit::kFirst),
      model("cnmem", "model of cnmem: best fit, one malloc at a time", layout::cnmem_footprint),
      model("torch", "model of PyTorch's caching allocator",
            [](const Problem& p) { return layout::caching_allocator_footprint(p, Segments::kFixed); }),
      model("torch-expandable", "the same with expandable segments",
            [](const Problem& p) { return layout::caching_allocator_footprint(p, Segments::kExpandable); }),
  };
}

}  // namespace

const std::vector<Packer>& packers() {
  static const std::vector<Packer> all = make_packers();
  return all;
}

const Packer& find_packer(std::string_view name) {
  if (name == "smartpool") name = "smartpool-best";
  std::vector<std::string_view> known;
  for (const Packer& packer : packers()) {
    if (packer.name == name) return packer;
    known.push_back(packer.name);
  }
  throw InputError(
      fmt::format("there is no packing algorithm '{}'; there are: {}", name, fmt::join(known, ", ")));
}

Layout pack_checked(const Packer& packer, const Problem& problem, const PackOptions& options) {
  Layout layout = packer.pack(problem, options);
  if (layout.fits && packer.has_offsets)
    if (const auto broken = layout::validate(problem, layout, options); !broken.empty())
      throw std::logic_error(fmt::format("{} broke a rule: {}", packer.name, broken.front().message));
  return layout;
}

}  // namespace ebb::cli
