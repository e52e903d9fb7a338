// A vector whose first N elements are stored inside the object: most tensors have one component and few dimensions, and
// a listing of 100,000 tensors must not allocate for each. Growth, aliasing and iterators follow the rules of
// std::vector, but a move moves each element that is stored inside. Elements must be nothrow-movable. More than 2^31
// elements throw std::bad_array_new_length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace tare {

template <typename T, std::size_t N>
class InlineVector {
  static_assert(N > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> items) : InlineVector(items.begin(), items.end()) {}
  explicit InlineVector(std::span<const T> items) : InlineVector(items.begin(), items.end()) {}
  template <typename It>
  InlineVector(It first, It last) : InlineVector() {  // the delegation makes the destructor run even if a copy throws
    if constexpr (std::forward_iterator<It>) reserve(static_cast<std::size_t>(std::distance(first, last)));
    for (; first != last; ++first) push_back(*first);
  }
  InlineVector(const InlineVector& other) : InlineVector(other.begin(), other.end()) {}
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) *this = InlineVector(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  // Makes room for `n` elements; never gives room back.
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    if (n > kMost) throw std::bad_array_new_length();
    move_to(std::allocator<T>().allocate(n), static_cast<std::uint32_t>(n));
  }
  void push_back(T item) { emplace_back(std::move(item)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) return grow(std::forward<Args>(args)...);
    T* slot = new (data_ + size_) T(std::forward<Args>(args)...);
    ++size_;
    return *slot;
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  void resize(std::size_t n) {
    while (size_ > n) pop_back();
    while (size_ < n) emplace_back();
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 31;

  T* inside() { return std::launder(reinterpret_cast<T*>(room_)); }
  bool outside() const { return data_ != reinterpret_cast<const T*>(room_); }

  // Doubles the capacity and appends an element, which is constructed first because `args` may refer to an old element.
  template <typename... Args>
  T& grow(Args&&... args) {
    if (capacity_ > kMost / 2) throw std::bad_array_new_length();
    const std::uint32_t capacity = capacity_ * 2;
    T* const fresh = std::allocator<T>().allocate(capacity);
    try {
      new (fresh + size_) T(std::forward<Args>(args)...);
    } catch (...) {
      std::allocator<T>().deallocate(fresh, capacity);
      throw;
    }
    move_to(fresh, capacity);
    return data_[size_++];
  }
  void move_to(T* fresh, std::uint32_t capacity) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    std::uninitialized_move_n(data_, size_, fresh);
    std::destroy_n(data_, size_);
    if (outside()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = fresh;
    capacity_ = capacity;
  }
  void take(InlineVector& other) noexcept {
    if (other.outside()) {
      data_ = std::exchange(other.data_, other.inside());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
    } else {
      std::uninitialized_move_n(other.data_, other.size_, inside());
      size_ = other.size_;
      other.clear();
    }
  }
  void release() noexcept {
    std::destroy_n(data_, size_);
    if (outside()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = inside();
    size_ = 0;
    capacity_ = N;
  }

  alignas(T) std::byte room_[N * sizeof(T)];
  T* data_ = reinterpret_cast<T*>(room_);
  std::uint32_t size_ = 0;  // 32 bits keep the object small
  std::uint32_t capacity_ = N;
};

}  // namespace tare
