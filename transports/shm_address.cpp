// The address as lines of text. host_id, which may hold any bytes, comes last.
#include "transports/shm_address.hpp"

#include <fcntl.h>

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"

namespace weft::transports {

namespace {

constexpr std::string_view kHead = "weft-shm 2";

std::optional<std::string_view> next_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

template <typename T>
bool parse_number(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_nonce(std::string_view hex, Nonce& nonce) {
  if (hex.size() != 2 * nonce.size()) return false;
  for (std::size_t i = 0; i < nonce.size(); ++i) {
    if (!parse_number(hex.substr(2 * i, 2), nonce[i], 16)) return false;
  }
  return true;
}

}  // namespace

std::string ShmAddress::to_text() const {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kHead, boot_id, socket, to_hex(nonce), uid, pid, nonce_at,
                     host_id);
}

std::optional<ShmAddress> ShmAddress::parse(std::string_view text) {
  std::array<std::string_view, 7> lines;
  for (std::string_view& line : lines) {
    const auto next = next_line(text);
    if (!next) return std::nullopt;
    line = *next;
  }
  ShmAddress address;
  address.boot_id = lines[1];
  address.socket = lines[2];
  address.host_id = text;
  const bool good = lines[0] == kHead && parse_nonce(lines[3], address.nonce) && parse_number(lines[4], address.uid) &&
                    parse_number(lines[5], address.pid) && parse_number(lines[6], address.nonce_at);
  if (!good) return std::nullopt;
  return address;
}

std::string read_boot_id() {
  const base::FileDescriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : 0;
  std::string id(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace weft::transports
