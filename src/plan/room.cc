#include "plan/room.h"

#include <algorithm>
#include <limits>

namespace ebb {

void Room::assign(const std::vector<Bytes>& need) {
  ops_ = static_cast<OpIndex>(need.size());
  leaves_ = 1;
  while (leaves_ < ops_) leaves_ *= 2;
  const auto leaves = static_cast<std::size_t>(leaves_);
  highest_.assign(2 * leaves, std::numeric_limits<Bytes>::min() / 2);
  added_.assign(2 * leaves, 0);
  std::copy(need.begin(), need.end(), highest_.begin() + leaves_);
  for (std::size_t node = leaves - 1; node > 0; --node)
    highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
}

void Room::add(OpIndex begin, OpIndex end, Bytes bytes) {
  if (begin >= end) return;
  const OpIndex shift = begin >= ops_ ? ops_ : (begin < 0 ? -ops_ : 0);
  begin -= shift;
  end -= shift;
  add_below(1, 0, leaves_, begin, std::min(end, ops_), bytes);
  if (end > ops_) add_below(1, 0, leaves_, 0, end - ops_, bytes);
}

void Room::add_below(std::size_t node, OpIndex node_begin, OpIndex node_end, OpIndex begin, OpIndex end,
                     Bytes bytes) {
  if (end <= node_begin || node_end <= begin) return;
  if (begin <= node_begin && node_end <= end) {
    highest_[node] += bytes;
    added_[node] += bytes;
    return;
  }
  const OpIndex middle = (node_begin + node_end) / 2;
  add_below(2 * node, node_begin, middle, begin, end, bytes);
  add_below(2 * node + 1, middle, node_end, begin, end, bytes);
  highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]) + added_[node];
}

OpIndex Room::earliest(OpIndex begin, OpIndex end, Bytes bytes, Bytes limit) const {
  const Bytes most = limit - bytes;
  if (end > ops_) {
    const OpIndex wrapped = last_above(1, 0, leaves_, std::max(begin - ops_, OpIndex{0}), end - ops_, most);
    if (wrapped >= 0) return wrapped + 1 + ops_;
  }
  if (begin >= ops_) return begin;
  const OpIndex blocked = last_above(1, 0, leaves_, begin, std::min(end, ops_), most);
  return blocked >= 0 ? blocked + 1 : begin;
}

OpIndex Room::last_above(std::size_t node, OpIndex node_begin, OpIndex node_end, OpIndex begin, OpIndex end,
                         Bytes most) const {
  if (end <= node_begin || node_end <= begin || highest_[node] <= most) return -1;
  if (node_end - node_begin == 1) return node_begin;
  const OpIndex middle = (node_begin + node_end) / 2;
  const Bytes below = most - added_[node];
  const OpIndex right = last_above(2 * node + 1, middle, node_end, begin, end, below);
  return right >= 0 ? right : last_above(2 * node, node_begin, middle, begin, end, below);
}

void Room::copy_to(std::vector<Bytes>& need) const {
  need.resize(static_cast<std::size_t>(ops_));
  collect(1, 0, leaves_, 0, need);
}

void Room::collect(std::size_t node, OpIndex node_begin, OpIndex node_end, Bytes carried,
                   std::vector<Bytes>& need) const {
  if (node_begin >= ops_) return;
  if (node_end - node_begin == 1) {
    need[static_cast<std::size_t>(node_begin)] = highest_[node] + carried;
    return;
  }
  const OpIndex middle = (node_begin + node_end) / 2;
  collect(2 * node, node_begin, middle, carried + added_[node], need);
  collect(2 * node + 1, middle, node_end, carried + added_[node], need);
}

}  // namespace ebb
