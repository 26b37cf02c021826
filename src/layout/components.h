// Taking an instance apart: items that are alive all the time go to the bottom, and stretches of time that no
// item crosses are packed on their own. Both lose nothing, and each can make the other possible again.
#pragma once

#include <vector>

#include "layout/sections.h"

namespace ebb::layout {

struct Settled {
  int source = 0;
  Units offset = 0;
};

struct Components {
  std::vector<Instance> parts;   // independent of each other; each has at least one item
  std::vector<Settled> settled;  // items whose place is decided
};

Components take_apart(const Instance& instance);

}  // namespace ebb::layout
