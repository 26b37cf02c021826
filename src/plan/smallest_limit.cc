#include "plan/smallest_limit.h"

namespace ebb {

OpNeed largest_op_need(const Program& program) {
  OpNeed largest;
  // Everything whose gap spans an op may be absent then; differences, because gaps are long.
  std::vector<Bytes> change(2 * program.ops().size() + 1, 0);
  for (const Gap& gap : Gaps(program)) {
    change[static_cast<std::size_t>(gap.from) + 1] += program.block(gap.block).bytes;
    change[static_cast<std::size_t>(gap.to)] -= program.block(gap.block).bytes;
  }
  std::vector<Bytes> absent(program.ops().size(), 0);
  Bytes now = 0;
  for (std::size_t k = 0; k + 1 < change.size(); ++k) absent[k % absent.size()] += now += change[k];
  for (OpIndex j = 0; j < program.op_count(); ++j) {
    const Bytes bytes = program.demand(j) - absent[static_cast<std::size_t>(j)];
    if (bytes > largest.bytes) largest = {j, bytes};
  }
  return largest;
}

}  // namespace ebb
