// Sets of numbers as words of bits.
#include "topology/probe/index_set.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kBits = 64;
constexpr std::size_t kMaxWords = (IndexSet::kMaxIndex + std::size_t{1}) / kBits;

// One word of a mask, with or without "0x"; an empty one is 0.
std::optional<std::uint32_t> parse_word(std::string_view text) {
  text = topology::trim(text);
  if (text.empty()) return 0;
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_whole<std::uint32_t>(text, 16);
}

}  // namespace

IndexSet::IndexSet(std::vector<std::uint64_t> words) : words_(std::move(words)) {
  words_.resize(std::min(words_.size(), kMaxWords));
  trim();
}

std::optional<IndexSet> IndexSet::parse_mask(std::string_view mask) {
  if (mask.empty()) return std::nullopt;
  std::vector<std::uint32_t> halves;
  for (;;) {
    const std::size_t comma = std::min(mask.find(','), mask.size());
    const std::optional<std::uint32_t> half = parse_word(mask.substr(0, comma));
    if (!half || halves.size() == 2 * kMaxWords) return std::nullopt;
    halves.push_back(*half);
    if (comma == mask.size()) break;
    mask.remove_prefix(comma + 1);
  }
  std::vector<std::uint64_t> words((halves.size() + 1) / 2);
  for (std::size_t i = 0; i < halves.size(); ++i)
    words[i / 2] |= std::uint64_t{halves[halves.size() - 1 - i]} << (i % 2 * 32);
  return IndexSet(std::move(words));
}

void IndexSet::trim() {
  const auto is_set = [](std::uint64_t word) { return word != 0; };
  const auto last = std::find_if(words_.rbegin(), words_.rend(), is_set);
  words_.erase(last.base(), words_.end());
  const auto begin = std::find_if(words_.begin(), words_.end(), is_set);
  first_word_ = words_.empty() ? 0 : first_word_ + static_cast<std::size_t>(begin - words_.begin());
  words_.erase(words_.begin(), begin);
}

std::size_t IndexSet::count() const {
  std::size_t sum = 0;
  for (std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
  return sum;
}

int IndexSet::first() const {
  if (words_.empty()) return -1;
  return static_cast<int>(first_word_ * kBits) + std::countr_zero(words_.front());
}

bool IndexSet::intersects(const IndexSet& other) const {
  const std::size_t last = std::min(end(), other.end());
  for (std::size_t i = std::max(first_word_, other.first_word_); i < last; ++i)
    if ((word(i) & other.word(i)) != 0) return true;
  return false;
}

bool IndexSet::contains_words(const IndexSet& other) const {
  for (std::size_t i = other.first_word_; i < other.end(); ++i)
    if ((other.word(i) & ~word(i)) != 0) return false;
  return true;
}

IndexSet IndexSet::operator&(const IndexSet& other) const {
  IndexSet both;
  both.first_word_ = std::max(first_word_, other.first_word_);
  for (std::size_t i = both.first_word_; i < std::min(end(), other.end()); ++i)
    both.words_.push_back(word(i) & other.word(i));
  both.trim();
  return both;
}

std::string IndexSet::list() const {
  std::string text;
  const std::size_t bits = end() * kBits;
  const auto is_set = [&](std::size_t index) { return (word(index / kBits) >> (index % kBits) & 1) != 0; };
  for (std::size_t index = first_word_ * kBits; index < bits; ++index) {
    if (!is_set(index)) continue;
    const std::size_t begin = index;
    while (index + 1 < bits && is_set(index + 1)) ++index;
    if (!text.empty()) text += ',';
    text += std::to_string(begin);
    if (index > begin) text += '-' + std::to_string(index);
  }
  return text;
}

}  // namespace weft::topology
