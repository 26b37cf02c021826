#include "simulate/bound_problem.h"

#include <algorithm>
#include <cmath>

#include "plan/host_copies.h"
#include "plan/recipes.h"
#include "simulate/host_lane.h"

namespace ebb {
namespace {

// A longer list would only sharpen the bound; chains of in-place updates would make it quadratic.
constexpr std::size_t kMostReruns = 64;

// When each version is gone for good: by overwriting, or by the death of a block no plan can keep.
std::vector<OpIndex> find_ends(const Program& program) {
  const OpIndex never = 2 * program.op_count();
  std::vector<OpIndex> ends(program.versions().size(), never);
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    for (const OpOutput& output : program.outputs(i))
      if (output.replaces >= 0) ends[static_cast<std::size_t>(output.replaces)] = i;
    for (BlockId b : program.deaths(i)) {
      const auto carried = static_cast<std::size_t>(b);  // the first version of a block has its id
      if (program.block(b).lifetime == Lifetime::wrapping) ends[carried] = std::min(ends[carried], i);
    }
  }
  for (std::size_t v = 0; v < ends.size(); ++v) {
    const Version& version = program.version(static_cast<VersionId>(v));
    const Block& block = program.block(version.block);
    if (block.lifetime == Lifetime::local && !program.managed(version.block))
      ends[v] = std::min(ends[v], block.death);
  }
  return ends;
}

// Contents whose block is dead and so large that keeping it past its death frees nothing: it takes as many
// bytes as all contents that are made from it would give by leaving. They count as gone.
class Spent {
 public:
  Spent(const Program& program, const Gaps& gaps) : program_(program), serves_(program.versions().size(), 0) {
    for (const Gap& gap : gaps) {
      const OpIndex writer = program.version(gap.version).writer;
      if (writer < 0 || gap.kind == GapKind::trailing) continue;
      for (VersionId input : program.inputs(writer))
        serves_[static_cast<std::size_t>(input)] += program.block(gap.block).bytes;
    }
  }

  bool operator()(VersionId v, OpIndex dropped_after) const {
    const Block& block = program_.block(program_.version(v).block);
    return block.lifetime == Lifetime::local && block.death <= dropped_after &&
           block.bytes >= serves_[static_cast<std::size_t>(v)];
  }

 private:
  const Program& program_;
  std::vector<Bytes> serves_;  // by version: bytes of the gaps whose content is made from it directly
};

// The writers that must run again for the content of the gap when everything that can still be there after
// its first op is there. Returns false if one of them cannot.
bool collect_reruns(const Program& program, const std::vector<OpIndex>& ends, const Spent& is_spent,
                    const Gap& gap, std::vector<OpIndex>& reruns) {
  std::vector<VersionId> open = {gap.version};
  reruns.clear();
  for (std::size_t next = 0; next < open.size() && reruns.size() < kMostReruns; ++next) {
    const OpIndex writer = program.version(open[next]).writer;
    if (writer < 0 || !program.op(writer).replayable) return false;
    if (std::find(reruns.begin(), reruns.end(), writer) != reruns.end()) continue;
    reruns.push_back(writer);
    for (VersionId input : program.inputs(writer))
      if (ends[static_cast<std::size_t>(input)] <= gap.from + 1 || (next == 0 && is_spent(input, gap.from)))
        open.push_back(input);
  }
  return true;
}

std::vector<Absence> find_absences(const Program& program, const Gaps& gaps) {
  const OpIndex n = program.op_count();
  const HostCopies host(program, gaps);
  const std::vector<Recipe> recipes = find_recipes(program, gaps);
  const std::vector<OpIndex> ends = find_ends(program);
  const Spent is_spent(program, gaps);
  std::vector<Absence> absences;
  for (GapId g = 0; g < gaps.count(); ++g) {
    const Gap& gap = gaps[g];
    if (gap.to - gap.from < 2) continue;
    Absence absence{.gap = g,
                    .block = gap.block,
                    .bytes = program.block(gap.block).bytes,
                    .from = gap.from,
                    .to = gap.to,
                    .returns = gap.kind != GapKind::trailing,
                    .has_host_copy = host.last_write(g) == HostCopies::kNeverWritten};
    absence.last_write = absence.has_host_copy ? gap.from : host.last_write(g);
    if (gap.kind == GapKind::trailing)
      absence.droppable = gap.to <= n && recipes[static_cast<std::size_t>(g)].remakable;
    else
      absence.droppable = gap.to < n && collect_reruns(program, ends, is_spent, gap, absence.reruns);
    if (!absence.droppable) absence.reruns.clear();
    absences.push_back(std::move(absence));
  }
  return absences;
}

}  // namespace

BoundProblem::BoundProblem(const Program& p, const Gaps& gaps, const Machine& m, Bytes l,
                           const BoundOptions& o)
    : program(p), machine(m), options(o), limit(l), absences(find_absences(p, gaps)) {
  for (OpIndex i = 0; i < program.op_count(); ++i) {
    op_time.push_back(machine.op_time(program.op(i)));
    compute_time += op_time.back();
    const Bytes workspace = options.workspace ? 0 : program.op(i).workspace;
    excess.push_back(program.demand(i) - workspace - limit);
  }
  plain_time = plain_step(program, machine);
}

Nanoseconds round_up(const BoundProblem& problem, double nanoseconds) {
  constexpr double kRounding =
      1e-9;  // far above that of sums of long doubles, far below what a bound is read to
  const double certain = nanoseconds - kRounding * (nanoseconds + static_cast<double>(problem.compute_time));
  return std::max<Nanoseconds>(0, static_cast<Nanoseconds>(std::ceil(certain)));
}

void add_over(const Absence& absence, Bytes bytes, std::vector<Bytes>& per_op) {
  const auto n = static_cast<OpIndex>(per_op.size());
  for (OpIndex j = absence.from + 1; j < absence.to; ++j)
    per_op[static_cast<std::size_t>(j < n ? j : j - n)] += bytes;
}

}  // namespace ebb
