// The packing algorithms by name: Ebb's own, the heuristics it is measured against, and models of real
// allocators.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "layout/packing.h"

namespace ebb::cli {

struct Packer {
  std::string_view name;
  std::string_view summary;
  // An allocator model has a footprint and no offsets: it hands out addresses one by one and forgets them.
  bool has_offsets = true;
  std::function<layout::Layout(const layout::Problem&, const layout::PackOptions&)> pack;
};

const std::vector<Packer>& packers();
// `smartpool` is smartpool-best. Throws InputError that lists the names if there is none of this name.
const Packer& find_packer(std::string_view name);
// Throws std::logic_error if the validator objects to the layout: then the packer is wrong.
layout::Layout pack_checked(const Packer& packer, const layout::Problem& problem,
                            const layout::PackOptions& options);

}  // namespace ebb::cli
