// When a block lives.
#pragma once

#include "trace/program.h"

namespace ebb {

// Is the block resident while the op runs, with nothing moved?
inline bool alive_at(const Block& block, OpIndex op) {
  switch (block.lifetime) {
    case Lifetime::persistent:
      return true;
    case Lifetime::local:
      return block.birth <= op && op <= block.death;
    case Lifetime::wrapping:
      return block.birth <= op || op <= block.death;
  }
  return false;
}

}  // namespace ebb
