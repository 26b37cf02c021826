// A list of mostly few elements, which lie in the object itself: whoever looks at it after a program has used
// up the cache fetches one piece of memory. More elements go elsewhere, to memory that it then keeps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ebb {

template <typename T, std::size_t kInside>
class Few {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as plain bytes");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Few() = default;
  Few(std::initializer_list<T> values) { assign({values.begin(), values.end()}); }
  explicit Few(std::span<const T> values) { assign(values); }
  Few(const Few& other) { assign(other); }
  Few(Few&& other) noexcept { *this = std::move(other); }
  Few& operator=(const Few& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Few& operator=(Few&& other) noexcept {
    if (this == &other) return *this;
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInside);
    more_ = std::move(other.more_);
    if (!more_) std::copy_n(other.inside_.data(), size_, inside_.data());
    return *this;
  }

  // REQUIRES, for both: they are not its own.
  void assign(std::span<const T> values) {
    size_ = 0;
    append(values);
  }
  void append(std::span<const T> values) {
    reserve(size_ + values.size());
    std::copy(values.begin(), values.end(), end());
    size_ += static_cast<std::uint32_t>(values.size());
  }
  void push_back(T value) {
    reserve(size_ + std::size_t{1});
    data()[size_++] = value;
  }
  void insert(const T* before, T value) {
    const auto at = before - begin();
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(const T* element) {
    std::copy(element + 1, std::as_const(*this).end(), begin() + (element - begin()));
    --size_;
  }
  void clear() { size_ = 0; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return more_ ? more_.get() : inside_.data(); }
  const T* data() const { return more_ ? more_.get() : inside_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }

  friend bool operator==(const Few& a, std::span<const T> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    const std::size_t capacity = std::max<std::size_t>(size, 2 * std::size_t{capacity_});
    auto wider = std::make_unique<T[]>(capacity);
    std::copy_n(data(), size_, wider.get());
    more_ = std::move(wider);
    capacity_ = static_cast<std::uint32_t>(capacity);
  }

  std::uint32_t size_ = 0;  // first: where only that is asked, only that is fetched
  std::uint32_t capacity_ = kInside;
  std::unique_ptr<T[]> more_;  // all of them, once there were too many
  std::array<T, kInside> inside_ = {};
};

}  // namespace ebb
