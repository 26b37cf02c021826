#include "runtime/remaker.h"

#include "runtime/out_of_memory.h"
#include "runtime/replay.h"

namespace ebb {
namespace {

constexpr int kMostAtOnce = 16;  // steps that are forgotten before an op

}  // namespace

Remaker::Remaker(const RuntimeParts& parts) : parts_(parts) {}
Remaker::~Remaker() = default;

void Remaker::remake(std::span<PagedBlock* const> blocks) {
  std::unique_ptr<Replay> replay = spare_ ? std::move(spare_) : std::make_unique<Replay>(parts_);
  replay->run(blocks);
  spare_ = std::move(replay);
  parts_.lifetimes.reap_released();
}

void Remaker::bring_back(std::span<const Handle> stranded, KeptBlocks& kept) {
  for (const Handle handle : stranded) kept.add(*parts_.table.find(handle));
  for (const Handle handle : stranded) {
    PagedBlock* block = parts_.table.find(handle);
    if (!block->dropped()) continue;
    remake(*block);
    ++parts_.statistics.protected_remakes;
  }
}

void Remaker::expire_some() {
  for (int k = 0; k < kMostAtOnce && parts_.recipes.full(parts_.statistics.ops); ++k) {
    KeptBlocks kept;
    const std::vector<Handle> stranded = parts_.recipes.expiring();
    try {
      bring_back(stranded, kept);
    } catch (const OutOfMemory&) {
      return;  // Not now: the step stays, and is asked about again before the next op.
    }
    parts_.recipes.expire_oldest();
    kept.clear();
    for (const Handle handle : stranded) parts_.lifetimes.reap(handle);
  }
}

}  // namespace ebb
