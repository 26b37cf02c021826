#include "layout/address_waits.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ebb::layout {
namespace {

// The last holder of every address so far, as disjoint ranges.
class Holders {
 public:
  // Hands [begin, end) to `holder` and names the commands that freed it before.
  void take(Bytes begin, Bytes end, std::int32_t freed_by, std::vector<std::int32_t>& waits) {
    split(begin);
    split(end);
    const auto first = ranges_.lower_bound(begin);
    const auto last = ranges_.lower_bound(end);
    for (auto it = first; it != last; ++it)
      if (it->second.freed_by >= 0) waits.push_back(it->second.freed_by);
    ranges_.erase(first, last);
    ranges_[begin] = {end, freed_by};
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  }

 private:
  struct Range {
    Bytes end = 0;
    std::int32_t freed_by = -1;
  };

  void split(Bytes at) {
    auto it = ranges_.upper_bound(at);
    if (it == ranges_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    ranges_[at] = it->second;
    it->second.end = at;
  }

  std::map<Bytes, Range> ranges_;
};

}  // namespace

AddressWaits address_waits(const ArenaProblem& arena, const Layout& layout) {
  const std::vector<Buffer>& buffers = arena.problem.buffers;
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].begin < buffers[b].begin; });
  AddressWaits waits(static_cast<std::size_t>(*arena.problem.period));
  Holders holders;
  // The first round only learns who holds what when an iteration begins.
  for (int round = 0; round < 2; ++round) {
    for (std::vector<std::int32_t>& list : waits) list.clear();
    for (const std::size_t i : order)
      holders.take(layout.offsets[i], layout.offsets[i] + buffers[i].size, arena.residencies[i].freed_by,
                   waits[static_cast<std::size_t>(buffers[i].begin)]);
  }
  return waits;
}

}  // namespace ebb::layout
