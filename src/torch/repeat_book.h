// What is known of things that come again and again, each by a key of many numbers. What did not come again
// for a while is forgotten.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/mix.h"

namespace ebb::torch_adapter {

using RepeatKey = std::vector<std::uint64_t>;

template <typename Value>
class RepeatBook {
 public:
  // To be written, and then looked up.
  RepeatKey& blank_key() {
    key_.clear();
    return key_;
  }
  // What is known under the key, which may be nothing yet. Valid until the next is looked up.
  Value& find() {
    if (++looked_up_ >= forget_at_) forget();
    Entry& entry = entries_[key_];
    entry.round = round_;
    return entry.value;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Value value = {};
    std::int64_t round = 0;
  };
  struct Hash {
    std::size_t operator()(const RepeatKey& key) const {
      std::uint64_t hash = key.size();
      for (const std::uint64_t word : key) hash = mix(hash, word);
      return hash;
    }
  };

  // Whatever comes round as often as half of all there is stays: rounds grow with the book, up to a limit.
  void forget() {
    std::erase_if(entries_, [&](const auto& known) { return known.second.round < round_; });
    ++round_;
    looked_up_ = 0;
    forget_at_ = std::min(kFew + 2 * entries_.size(), kMany);
  }

  static constexpr std::size_t kFew = 512;
  static constexpr std::size_t kMany = 1 << 15;

  RepeatKey key_;
  std::unordered_map<RepeatKey, Entry, Hash> entries_;
  std::size_t looked_up_ = 0;  // in this round
  std::size_t forget_at_ = kFew;
  std::int64_t round_ = 0;
};

}  // namespace ebb::torch_adapter
