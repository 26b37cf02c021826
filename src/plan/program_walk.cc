#include "plan/program_walk.h"

namespace ebb {

Presence presence_at_start(const Program& program) {
  Presence presence;
  for (BlockId b = 0; b < program.block_count(); ++b) {
    presence.where.push_back(program.block(b).lifetime == Lifetime::local ? Whereabouts::dead
                                                                          : Whereabouts::resident);
    presence.current.push_back(b);  // the first versions are the blocks' own, in order
  }
  return presence;
}

void run_op(const Program& program, OpIndex i, Presence& presence) {
  for (BlockId b : program.op(i).births) {
    presence.where[static_cast<std::size_t>(b)] = Whereabouts::resident;
    presence.current[static_cast<std::size_t>(b)] = program.version_at_birth(b);
  }
  for (const OpOutput& output : program.outputs(i))
    presence.current[static_cast<std::size_t>(program.version(output.version).block)] = output.version;
}

void advance(const Program& program, OpIndex i, Presence& presence) {
  run_op(program, i, presence);
  for (BlockId b : program.deaths(i)) presence.where[static_cast<std::size_t>(b)] = Whereabouts::dead;
}

}  // namespace ebb
