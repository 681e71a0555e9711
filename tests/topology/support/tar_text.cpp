// The ustar format: a header of 512 bytes for each entry, its content padded to such blocks.
#include "tests/topology/support/tar_text.hpp"

#include <fmt/format.h>

#include <numeric>

namespace weft::topology::test {
namespace {

constexpr std::size_t kBlock = 512;

}  // namespace

TarText& TarText::claim(std::string_view name, std::size_t bytes) {
  add_header(name, '0', bytes, "");
  return *this;
}

std::string TarText::text() const { return bytes_ + std::string(2 * kBlock, '\0'); }

TarText& TarText::add(std::string_view name, char type, std::string_view content, std::string_view target) {
  add_header(name, type, content.size(), target);
  bytes_ += content;
  bytes_.resize((bytes_.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return *this;
}

void TarText::add_header(std::string_view name, char type, std::size_t bytes, std::string_view target) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", bytes));
  put(136, "00000000000");
  put(148, "        ");  // the checksum counts as blanks
  header[156] = type;
  put(157, target);
  put(257, std::string_view("ustar\00000", 8));
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0U,
                                       [](unsigned total, char c) { return total + static_cast<unsigned char>(c); });
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  bytes_ += header;
}

}  // namespace weft::topology::test
