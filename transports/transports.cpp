// The table of transports that processes can use.
#include "transports/transports.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "transports/shm.hpp"
#include "transports/ucx.hpp"

namespace weft::transports {

namespace {

constexpr std::array<std::string_view, 2> kPreference = {"shm", "ucx"};

// `name` is one of kPreference.
Result<std::unique_ptr<Transport>> make_transport(std::string_view name, const Options& options) {
  auto note = [options](const std::string& text) { base::logger_of(options).info("{}", text); };
  if (name == "shm") {
    return make_shm_transport(
        {.host_id = options.host_id, .single_copy = options.single_copy, .note = std::move(note)});
  }
  WEFT_ASSERT(name == "ucx");
  return make_ucx_transport({.interface = options.interface, .note = std::move(note)});
}

}  // namespace

Status check_transports(const Options& options) {
  const auto& names = options.transports;
  for (const std::string& name : names) {
    if (std::ranges::find(kPreference, name) == kPreference.end()) {
      return Status(Code::InvalidArgument, fmt::format("there is no transport '{}' (WEFT_TRANSPORTS); known are {}",
                                                       name, fmt::join(kPreference, ", ")));
    }
    if (std::ranges::count(names, name) > 1)
      return Status(Code::InvalidArgument, fmt::format("the transport '{}' is named twice (WEFT_TRANSPORTS)", name));
  }
  return {};
}

Result<std::vector<std::unique_ptr<Transport>>> make_transports(const Options& options) {
  WEFT_TRY(check_transports(options));
  const bool asked = !options.transports.empty();
  std::vector<std::string_view> names(options.transports.begin(), options.transports.end());
  if (!asked) names.assign(kPreference.begin(), kPreference.end());
  std::vector<std::unique_ptr<Transport>> transports;
  Status first_failure;
  for (const std::string_view name : names) {
    auto transport = make_transport(name, options);
    if (transport) {
      transports.push_back(std::move(transport).value());
    } else if (asked) {
      return std::move(transport).error();
    } else {
      base::logger_of(options).info("goes without {}: {}", name, transport.error().message());
      if (first_failure.ok()) first_failure = std::move(transport).error();
    }
  }
  if (transports.empty()) return std::move(first_failure).with_context("no transport can start");
  return transports;
}

}  // namespace weft::transports
