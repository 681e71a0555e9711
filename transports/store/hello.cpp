// The two frames of the greeting; parsing accepts any bytes.
#include "transports/store/hello.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "transports/store/printable.hpp"

namespace weft::transports {
namespace {

std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

}  // namespace

Hello make_hello(const Options& options) {
  return Hello{.job = options.job_id, .size = options.size, .rank = options.rank, .process = this_process()};
}

Frame to_frame(const Hello& hello) {
  return Frame{.type = FrameType::Hello,
               .rank = hello.rank,
               .key = hello.job,
               .value = fmt::format("{} {}", hello.size, hello.process)};
}

Result<Hello> parse_hello(const Frame& frame) {
  Hello hello{.job = frame.key, .rank = frame.rank, .process = {}};
  const char* const end = frame.value.data() + frame.value.size();
  const auto [rest, error] = std::from_chars(frame.value.data(), end, hello.size);
  if (error != std::errc() || rest == end || *rest != ' ' || hello.size < 1) {
    return Status(Code::Corrupt, fmt::format("'{}' is no hello", printable(frame.value)));
  }
  if (hello.rank < 0 || hello.rank >= hello.size) {
    return Status(Code::Corrupt, fmt::format("hello of rank {} among {}", hello.rank, hello.size));
  }
  hello.process.assign(rest + 1, end);
  return hello;
}

Frame to_frame(const Refusal& refusal) {
  return Frame{.type = FrameType::Refused, .code = static_cast<std::uint8_t>(refusal.final), .value = refusal.reason};
}

}  // namespace weft::transports
