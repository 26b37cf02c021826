// A map from offsets that is quick to change and to walk: its entries lie in order in a few arrays, so that a
// look-up touches little memory and an insertion moves little. A std::map costs an allocation and a walk over
// nodes all over memory for each, and here these are what an op costs the host.
//
//   firsts_:     0            640            1152          the first offset in each chunk
//   chunks_:  [0 96 512]  [640 704 …]    [1152 …]          at most kMost entries each, never none
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "trace/quantities.h"

namespace ebb {

template <typename Value>
class OffsetMap {
 public:
  // A pair, but one that is moved as plain bytes.
  struct Entry {
    Bytes first = 0;
    Value second = {};
  };

 private:
  // An insertion moves half of a chunk on average: as many cache lines as a longer list of chunks costs.
  static constexpr std::size_t kMost = std::max<std::size_t>(16, 1024 / sizeof(Entry));
  struct Chunk {
    std::size_t size = 0;
    std::array<Entry, kMost> entries = {};
    Entry* begin() { return entries.data(); }
    Entry* end() { return entries.data() + size; }
  };

  template <bool kConst>
  class Position {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = std::conditional_t<kConst, const Entry*, Entry*>;
    using reference = std::conditional_t<kConst, const Entry&, Entry&>;
    using Map = std::conditional_t<kConst, const OffsetMap, OffsetMap>;

    Position() = default;
    Position(Map& map, std::size_t chunk, pointer at) : map_(&map), chunk_(chunk), at_(at) {}
    template <bool kOther>
    requires(kConst && !kOther) Position(const Position<kOther>& other)
        : map_(other.map_), chunk_(other.chunk_), at_(other.at_) {}

    reference operator*() const { return *at_; }
    pointer operator->() const { return at_; }
    Position& operator++() {
      if (++at_ == map_->chunks_[chunk_]->end()) *this = first_of(*map_, chunk_ + 1);
      return *this;
    }
    Position& operator--() {
      if (at_ == first_of(*map_, chunk_).at_) at_ = map_->chunks_[--chunk_]->end();
      --at_;
      return *this;
    }
    Position operator++(int) { return std::exchange(*this, std::next(*this)); }
    Position operator--(int) { return std::exchange(*this, std::prev(*this)); }
    bool operator==(const Position& other) const { return at_ == other.at_; }

   private:
    friend OffsetMap;
    friend Position<true>;
    Map* map_ = nullptr;
    std::size_t chunk_ = 0;
    pointer at_ = nullptr;  // nullptr: behind the last
  };

 public:
  using iterator = Position<false>;
  using const_iterator = Position<true>;

  iterator begin() { return first_of(*this, 0); }
  iterator end() { return {*this, chunks_.size(), nullptr}; }
  const_iterator begin() const { return first_of(*this, 0); }
  const_iterator end() const { return {*this, chunks_.size(), nullptr}; }
  std::size_t size() const { return size_; }

  // The last entry at the offset or before it; end() if there is none.
  iterator at_or_before(Bytes offset) { return last_until(*this, offset); }
  const_iterator at_or_before(Bytes offset) const { return last_until(*this, offset); }
  // The same, but the first entry of all if there is none: where to begin with what may reach behind it.
  iterator first_from(Bytes offset) { return or_first(*this, at_or_before(offset)); }
  const_iterator first_from(Bytes offset) const { return or_first(*this, at_or_before(offset)); }

  // The first entry at the offset or behind it; the first one behind it.
  iterator lower_bound(Bytes offset) { return first_behind(*this, offset - 1); }
  const_iterator lower_bound(Bytes offset) const { return first_behind(*this, offset - 1); }
  iterator upper_bound(Bytes offset) { return first_behind(*this, offset); }
  const_iterator upper_bound(Bytes offset) const { return first_behind(*this, offset); }

  // REQUIRES: there is none at the offset. Every change but `set_offset` moves the entries behind it:
  // iterators are void.
  void emplace(Bytes offset, const Value& value) { insert_behind(at_or_before(offset), offset, value); }
  // REQUIRES: `before` is at_or_before(offset), and is before it.
  void insert_behind(iterator before, Bytes offset, const Value& value) {
    assert((before == end() || before->first < offset) && "two entries at one offset");
    if (chunks_.empty()) insert_chunk(0);
    const std::size_t c = before == end() ? 0 : before.chunk_;
    Chunk& chunk = *chunks_[c];
    if (chunk.size == kMost) {
      split(c);
      return emplace(offset, value);
    }
    Entry* const at = before == end() ? chunk.begin() : before.at_ + 1;
    std::move_backward(at, chunk.end(), chunk.end() + 1);
    *at = {offset, value};
    ++chunk.size;
    ++size_;
    if (at == chunk.begin()) firsts_[c] = offset;
  }

  // The entry behind it.
  iterator erase(iterator position) {
    const std::size_t c = position.chunk_;
    Chunk& chunk = *chunks_[c];
    std::move(position.at_ + 1, chunk.end(), position.at_);
    --chunk.size;
    --size_;
    if (chunk.size == 0) {
      spare_.push_back(std::move(chunks_[c]));
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
      firsts_.erase(firsts_.begin() + static_cast<std::ptrdiff_t>(c));
      return first_of(*this, c);
    }
    firsts_[c] = chunk.entries[0].first;
    return position.at_ != chunk.end() ? position : first_of(*this, c + 1);
  }
  // REQUIRES: there is one at the offset.
  void erase(Bytes offset) {
    const iterator position = lower_bound(offset);
    assert(position != end() && position->first == offset && "no entry at the offset");
    erase(position);
  }

  // REQUIRES: the entry keeps its place among the others.
  void set_offset(iterator position, Bytes offset) {
    position->first = offset;
    if (position.at_ == chunks_[position.chunk_]->begin()) firsts_[position.chunk_] = offset;
  }

 private:
  static Bytes offset_of(Bytes offset) { return offset; }
  static Bytes offset_of(const Entry& entry) { return entry.first; }

  // The last of them at the offset or before it. REQUIRES: the first is. Nothing to guess for the processor.
  template <typename T>
  static T* last_until(T* first, std::size_t count, Bytes offset) {
    while (count > 1) {
      const std::size_t half = count / 2;
      first = offset_of(first[half]) <= offset ? first + half : first;
      count -= half;
    }
    return first;
  }

  template <typename Map>
  static auto last_until(Map& map, Bytes offset) {
    if (map.chunks_.empty() || offset < map.firsts_.front()) return map.end();
    const Bytes* const first = last_until(map.firsts_.data(), map.firsts_.size(), offset);
    const auto c = static_cast<std::size_t>(first - map.firsts_.data());
    Chunk& chunk = *map.chunks_[c];
    return decltype(map.end()){map, c, last_until(chunk.begin(), chunk.size, offset)};
  }

  template <typename Map, typename Found>
  static Found or_first(Map& map, Found position) {
    return position == map.end() ? map.begin() : position;
  }

  template <typename Map>
  static auto first_behind(Map& map, Bytes offset) {
    auto position = last_until(map, offset);
    return position == map.end() ? map.begin() : ++position;
  }

  // The first entry of a chunk; end() behind the last chunk.
  template <typename Map>
  static auto first_of(Map& map, std::size_t chunk) {
    using Found = Position<std::is_const_v<Map>>;
    return Found{map, chunk, chunk < map.chunks_.size() ? map.chunks_[chunk]->begin() : nullptr};
  }

  void insert_chunk(std::size_t at) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Chunk>());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(at), std::move(spare_.back()));
    spare_.pop_back();
    firsts_.insert(firsts_.begin() + static_cast<std::ptrdiff_t>(at), 0);
  }

  void split(std::size_t c) {
    insert_chunk(c + 1);
    Chunk& low = *chunks_[c];
    Chunk& high = *chunks_[c + 1];
    low.size = kMost / 2;
    high.size = kMost - kMost / 2;
    std::move(low.entries.begin() + kMost / 2, low.entries.end(), high.entries.begin());
    firsts_[c + 1] = high.entries[0].first;
  }

  std::vector<Bytes> firsts_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::unique_ptr<Chunk>> spare_;  // of size 0: chunks come and go all the time
  std::size_t size_ = 0;
};

}  // namespace ebb
