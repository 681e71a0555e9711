// IndexSet: numbers of CPUs or NUMA nodes, as the masks of hwloc hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

class IndexSet {
 public:
  static constexpr int kMaxIndex = (1 << 20) - 1;

  IndexSet() = default;
  // 64 indices a word, the lowest first; indices beyond kMaxIndex are left out.
  explicit IndexSet(std::vector<std::uint64_t> words);
  // "0x00000003,,0xffff0000": 32 indices a word, the highest first. Nothing for the set of all numbers ("0xf...f"),
  // which hwloc writes where it does not know, and for what is no mask.
  static std::optional<IndexSet> parse_mask(std::string_view mask);

  bool empty() const { return words_.empty(); }
  std::size_t count() const;
  int first() const;  // -1 for none
  bool intersects(const IndexSet& other) const;
  bool contains(const IndexSet& other) const {
    // Nearly all sets of one core lie in one word.
    if (other.words_.size() == 1) return (other.words_.front() & ~word(other.first_word_)) == 0;
    return contains_words(other);
  }
  IndexSet operator&(const IndexSet& other) const;
  std::string list() const;  // "0-15,128-143"; empty for none

  bool operator==(const IndexSet&) const = default;

 private:
  std::size_t end() const { return first_word_ + words_.size(); }
  std::uint64_t word(std::size_t index) const {
    return index < first_word_ || index >= end() ? 0 : words_[index - first_word_];
  }
  bool contains_words(const IndexSet& other) const;
  void trim();

  // Neither the first nor the last word is 0, so that equal sets are equal members.
  std::size_t first_word_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace weft::topology
