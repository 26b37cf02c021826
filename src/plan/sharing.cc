#include "plan/sharing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace ebb {
namespace {

constexpr std::array<std::string_view, 22> kElementwise = {
    "relu",  "relu6", "sigmoid", "tanh", "gelu",    "silu",      "elu",      "add",
    "sub",   "mul",   "div",     "neg",  "dropout", "threshold", "hardtanh", "masked",
    "scale", "clamp", "exp",     "sqrt", "rsub",    "hardswish"};
constexpr Bytes kWorthGrowing = 16;  // recycled memory is taken if it has at least this part of the size

constexpr std::int32_t kNoCell = -1;

// One walk over the ops with a counter of pending readers per content.
class SharingWalk {
 public:
  SharingWalk(const Program& program, bool recycles)
      : program_(program),
        recycles_(recycles),
        pending_(program.versions().size(), 0),
        cell_(program.versions().size(), kNoCell) {
    for (OpIndex i = 0; i < program.op_count(); ++i)
      for (VersionId input : program.inputs(i)) ++pending(input);
  }

  Bytes run() {
    for (OpIndex i = 0; i < program_.op_count(); ++i) {
      const bool elementwise = is_elementwise(program_.op(i).name);
      for (const OpOutput& output : program_.outputs(i)) place(i, output, elementwise);
      for (VersionId input : program_.inputs(i))
        if (--pending(input) == 0) release(input);
      for (const OpOutput& output : program_.outputs(i))
        if (pending(output.version) == 0) release(output.version);
    }
    Bytes total = 0;
    for (Bytes size : sizes_) total += size;
    return total;
  }

 private:
  std::int32_t& pending(VersionId v) { return pending_[static_cast<std::size_t>(v)]; }
  std::int32_t& cell(VersionId v) { return cell_[static_cast<std::size_t>(v)]; }
  Bytes bytes_of(VersionId v) const { return program_.block(program_.version(v).block).bytes; }
  bool is_local(VersionId v) const {
    return program_.block(program_.version(v).block).lifetime == Lifetime::local;
  }

  void place(OpIndex i, const OpOutput& output, bool elementwise) {
    if (!is_local(output.version)) return;  // lives in the block that outlives the iteration
    for (VersionId input : program_.inputs(i)) {
      const bool may = elementwise || output.replaces == input;
      if (!may || pending(input) != 1 || cell(input) == kNoCell ||
          bytes_of(input) != bytes_of(output.version))
        continue;
      cell(output.version) = cell(input);
      cell(input) = kNoCell;
      return;
    }
    cell(output.version) = take(bytes_of(output.version));
  }

  std::int32_t take(Bytes bytes) {
    auto fit = free_.lower_bound({bytes, 0});
    if (fit == free_.end() && fit != free_.begin() && std::prev(fit)->first >= bytes / kWorthGrowing) --fit;
    if (fit == free_.end()) {
      sizes_.push_back(bytes);
      return static_cast<std::int32_t>(sizes_.size()) - 1;
    }
    const std::int32_t recycled = fit->second;
    free_.erase(fit);
    Bytes& size = sizes_[static_cast<std::size_t>(recycled)];
    size = std::max(size, bytes);
    return recycled;
  }

  void release(VersionId v) {
    if (cell(v) == kNoCell || !recycles_) return;
    free_.insert({sizes_[static_cast<std::size_t>(cell(v))], cell(v)});
    cell(v) = kNoCell;
  }

  const Program& program_;
  const bool recycles_;
  std::vector<std::int32_t> pending_;  // by version: ops that have yet to read it
  std::vector<std::int32_t> cell_;     // by version
  std::vector<Bytes> sizes_;           // by cell
  std::set<std::pair<Bytes, std::int32_t>> free_;
};

// The content a block that outlives the iteration has at its end.
std::vector<bool> survivors(const Program& program) {
  std::vector<bool> survives(program.versions().size(), false);
  for (BlockId b = 0; b < program.block_count(); ++b) {
    const auto accesses = program.accesses(b);
    if (program.block(b).lifetime == Lifetime::local || accesses.empty()) continue;
    survives[static_cast<std::size_t>(accesses.back().version)] = true;
  }
  return survives;
}

}  // namespace

bool is_elementwise(std::string_view op_name) {
  std::string word;
  bool found = false;
  auto end_word = [&] {
    found = found || std::find(kElementwise.begin(), kElementwise.end(), word) != kElementwise.end();
    word.clear();
  };
  for (char c : op_name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else
      end_word();
  }
  end_word();
  return found;
}

SharingSummary analyse_sharing(const Program& program) {
  SharingSummary summary;
  const std::vector<bool> survives = survivors(program);
  for (VersionId v = 0; v < static_cast<VersionId>(program.versions().size()); ++v)
    if (program.version(v).writer >= 0 && !survives[static_cast<std::size_t>(v)])
      summary.no_optimisation += program.block(program.version(v).block).bytes;
  summary.in_place = SharingWalk(program, false).run();
  summary.sharing = SharingWalk(program, true).run();
  return summary;
}

}  // namespace ebb
