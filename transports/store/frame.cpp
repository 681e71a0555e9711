// The bytes of a frame; parsing accepts any.
#include "transports/store/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"

namespace weft::transports {
namespace {

constexpr std::string_view kMagic = "WEFT";
constexpr auto kLastType = static_cast<std::uint8_t>(FrameType::Closing);

template <typename Integer>
void append(std::string& bytes, Integer value) {
  const auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = 0; i < sizeof(Integer); ++i) bytes.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
}

std::uint32_t number_at(std::string_view bytes, std::size_t offset, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[offset + i])) << (8 * i);
  }
  return value;
}

Status check_length(std::string_view what, std::size_t bytes, std::size_t limit) {
  if (bytes <= limit) return {};
  return Status(Code::Corrupt, fmt::format("a {} of {} bytes is over the limit of {}", what, bytes, limit));
}

Status check_header(std::string_view bytes, const FrameLimits& limits) {
  if (const auto version = number_at(bytes, 4, 2); version != kFrameVersion) {
    return Status(Code::Unsupported,
                  fmt::format("the other side speaks version {} of the store protocol, this side version {}: "
                              "all ranks need the same Weft",
                              version, kFrameVersion));
  }
  if (const auto type = number_at(bytes, 6, 1); type == 0 || type > kLastType) {
    return Status(Code::Corrupt, fmt::format("{} is no type of frame", type));
  }
  WEFT_TRY(check_length("key", number_at(bytes, 16, 4), limits.key_bytes));
  return check_length("value", number_at(bytes, 20, 4), limits.value_bytes);
}

}  // namespace

std::string encode(const Frame& frame) {
  WEFT_ASSERT(frame.key.size() <= kMaxKeyBytes);
  WEFT_ASSERT(frame.value.size() <= kMaxValueBytes);
  std::string bytes;
  bytes.reserve(kFrameHeaderBytes + frame.key.size() + frame.value.size());
  bytes += kMagic;
  append(bytes, kFrameVersion);
  append(bytes, static_cast<std::uint8_t>(frame.type));
  append(bytes, frame.code);
  append(bytes, frame.request);
  append(bytes, frame.rank);
  append(bytes, static_cast<std::uint32_t>(frame.key.size()));
  append(bytes, static_cast<std::uint32_t>(frame.value.size()));
  bytes += frame.key;
  bytes += frame.value;
  return bytes;
}

Result<std::optional<ParsedFrame>> parse_frame(std::string_view bytes, const FrameLimits& limits) {
  const std::size_t known = std::min(bytes.size(), kMagic.size());
  if (bytes.substr(0, known) != kMagic.substr(0, known)) {
    return Status(Code::Corrupt, "the other side does not speak Weft's store protocol");
  }
  if (bytes.size() < kFrameHeaderBytes) return std::optional<ParsedFrame>();
  WEFT_TRY(check_header(bytes, limits));

  const std::size_t key_bytes = number_at(bytes, 16, 4);
  const std::size_t value_bytes = number_at(bytes, 20, 4);
  const std::size_t total = kFrameHeaderBytes + key_bytes + value_bytes;
  if (bytes.size() < total) return std::optional<ParsedFrame>();

  ParsedFrame parsed;
  parsed.consumed = total;
  parsed.frame.type = static_cast<FrameType>(number_at(bytes, 6, 1));
  parsed.frame.code = static_cast<std::uint8_t>(number_at(bytes, 7, 1));
  parsed.frame.request = number_at(bytes, 8, 4);
  parsed.frame.rank = static_cast<std::int32_t>(number_at(bytes, 12, 4));
  parsed.frame.key = bytes.substr(kFrameHeaderBytes, key_bytes);
  parsed.frame.value = bytes.substr(kFrameHeaderBytes + key_bytes, value_bytes);
  return std::optional<ParsedFrame>(std::move(parsed));
}

}  // namespace weft::transports
