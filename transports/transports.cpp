// The table of transports that processes can use.
#include "transports/transports.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "transports/shm.hpp"
#include "transports/ucx.hpp"

namespace weft::transports {

namespace {

const std::vector<std::string> kPreference = {"shm", "ucx"};

Result<std::unique_ptr<Transport>> make_transport(std::string_view name, const Options& options) {
  if (name == "shm") return make_shm_transport({.host_id = options.host_id});
  if (name == "ucx") return make_ucx_transport({.interface = options.interface});
  return Status(Code::InvalidArgument, fmt::format("there is no transport '{}' (WEFT_TRANSPORTS); known are {}", name,
                                                   fmt::join(kPreference, ", ")));
}

}  // namespace

Result<std::vector<std::unique_ptr<Transport>>> make_transports(const Options& options) {
  const bool asked = !options.transports.empty();
  std::vector<std::unique_ptr<Transport>> transports;
  Status first_failure;
  for (const std::string& name : asked ? options.transports : kPreference) {
    const auto same = [&](const auto& transport) { return transport->name() == name; };
    if (std::any_of(transports.begin(), transports.end(), same)) {
      return Status(Code::InvalidArgument, fmt::format("the transport '{}' is named twice (WEFT_TRANSPORTS)", name));
    }
    auto transport = make_transport(name, options);
    if (transport) {
      transports.push_back(std::move(transport).value());
    } else if (asked) {
      return std::move(transport).error();
    } else if (first_failure.ok()) {
      first_failure = std::move(transport).error();
    }
  }
  if (transports.empty()) return std::move(first_failure).with_context("no transport can start");
  return transports;
}

}  // namespace weft::transports
