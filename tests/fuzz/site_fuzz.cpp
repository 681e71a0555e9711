// Fuzz target: any bytes as a site file. Either they are refused with one line that starts with the file's name, or
// they are a site with which the audit runs.
//
// With libFuzzer: tools/fuzz site. Without it, topology.site_fuzz_test runs seeds and seeded mutations through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "topology/audit/audit.hpp"

namespace {

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

const weft::topology::Survey& machine() {
  static const weft::topology::Survey survey = [] {
    weft::topology::Survey made;
    made.graph = *weft::topology::model("packages:2 gpu:2 nic:1 ndr");
    return made;
  }();
  return survey;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace weft::topology::audit;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const auto site = site_from_json("fuzz", text);
  if (!site) {
    const std::string_view message = site.error().message();
    require(message.starts_with("fuzz") && message.find('\n') == std::string_view::npos);
    return 0;
  }
  for (const Ignored& one : site->ignored) require(find_rule(one.id) != nullptr);
  for (const Finding& finding : audit(machine(), *site)) require(!is_ignored(*site, finding.id, finding.subject));
  return 0;
}
