// RingQueue: first in, first out, in one block of memory. Allocates only in reserve() and when it is full.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "base/assert.hpp"

namespace weft::comm {

template <typename T>
class RingQueue final {
 public:
  bool empty() const { return size_ == 0; }
  T& front() { return items_[first_]; }
  T& back() { return items_[(first_ + size_ - 1) & mask()]; }

  void push(const T& item) {
    if (size_ == items_.size()) reserve(size_ * 2);
    items_[(first_ + size_) & mask()] = item;
    ++size_;
  }

  T pop() {
    WEFT_ASSERT(size_ > 0);
    const T item = items_[first_];
    first_ = (first_ + 1) & mask();
    --size_;
    return item;
  }

  // Room for `count` items; what is queued stays.
  void reserve(std::size_t count) {
    if (items_.size() >= count) return;
    std::rotate(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_), items_.end());
    first_ = 0;
    items_.resize(std::bit_ceil(count));
  }

 private:
  std::size_t mask() const { return items_.size() - 1; }

  std::vector<T> items_ = std::vector<T>(8);  // a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace weft::comm
