#include "layout/components.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace ebb::layout {
namespace {

// Moves items of full width from the instance to the bottom. True if there were any.
bool settle_full_width(Instance& instance, std::vector<Settled>& settled) {
  if (!has_level_base(instance)) return false;
  Units level = instance.base.front();
  std::vector<Item> rest;
  for (const Item& item : instance.items) {
    if (item.count == instance.sections) {
      settled.push_back({.source = item.source, .offset = level});
      level += item.size;
    } else {
      rest.push_back(item);
    }
  }
  if (rest.size() == instance.items.size()) return false;
  instance.items = std::move(rest);
  std::fill(instance.base.begin(), instance.base.end(), level);
  return true;
}

// cuts[s]: no item lies both in section s and in the one before it.
std::vector<char> find_cuts(const Instance& instance) {
  std::vector<int> change(instance.sections + 1, 0);
  for (const Item& item : instance.items) {
    const int last = item.first + item.count;
    if (item.count == instance.sections) return std::vector<char>(instance.sections, 0);
    if (last > instance.sections) {
      ++change[0];
      --change[last - instance.sections];
    }
    ++change[item.first + 1];
    --change[std::min(last, instance.sections)];
  }
  std::vector<char> cuts;
  int crossing = 0;
  for (int s = 0; s < instance.sections; ++s) cuts.push_back((crossing += change[s]) == 0 ? 1 : 0);
  return cuts;
}

std::vector<Instance> split_at(const Instance& instance, const std::vector<char>& cuts) {
  const auto first_cut = std::find(cuts.begin(), cuts.end(), 1);
  if (first_cut == cuts.end()) return {instance};
  const int start = static_cast<int>(first_cut - cuts.begin());
  std::vector<Instance> parts;
  std::vector<int> part_of(instance.sections), position(instance.sections);
  for (int k = 0; k < instance.sections; ++k) {
    const int s = (start + k) % instance.sections;
    if (cuts[s] != 0) parts.emplace_back();
    part_of[s] = static_cast<int>(parts.size()) - 1;
    position[s] = parts.back().sections++;
    parts.back().base.push_back(instance.base[s]);
  }
  for (Item item : instance.items) {
    Instance& part = parts[part_of[item.first]];
    item.first = position[item.first];
    part.items.push_back(item);
  }
  std::erase_if(parts, [](const Instance& part) { return part.items.empty(); });
  return parts;
}

}  // namespace

Components take_apart(const Instance& instance) {
  Components result;
  std::vector<Instance> open{instance};
  while (!open.empty()) {
    Instance part = std::move(open.back());
    open.pop_back();
    const bool settled = settle_full_width(part, result.settled);
    std::vector<Instance> pieces = split_at(part, find_cuts(part));
    if (!settled && pieces.size() == 1) {
      result.parts.push_back(std::move(pieces.front()));
    } else {
      std::move(pieces.begin(), pieces.end(), std::back_inserter(open));
    }
  }
  return result;
}

}  // namespace ebb::layout
