// Fuzz target: any bytes as a fabric file or a listing of ibnetdiscover. Either they are refused with one line, or the
// hosts are joined to a sound graph.
//
// With libFuzzer: tools/fuzz fabric. Without it, topology.fabric_fuzz_test runs seeds and seeded mutations through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "topology/fabric/fabric.hpp"

namespace {

using weft::Result;
using weft::topology::Survey;

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

void expect_sound(const Result<Survey>& survey) {
  if (survey) return require(survey->graph.check().ok());
  const std::string message(survey.error().message());
  require(message.starts_with("fuzz") && message.find('\n') == std::string::npos);
}

const Survey& two_hosts() {
  static const Survey hosts = [] {
    Survey survey;
    survey.graph = *weft::topology::model("gpu:1 nic:2 hdr hosts:2");
    survey.hosts.resize(2);
    survey.hosts[0].hostname = "node1";
    survey.graph.nodes[static_cast<std::size_t>(*survey.graph.find("host0/nic0"))].names = {"mlx5_0"};
    return survey;
  }();
  return hosts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace weft::topology;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  if (is_fabric_file(text)) {
    // Hosts of its own may be thousands and read other files: only the parsing is for any bytes.
    const Result<FabricFile> file = parse_fabric_file("fuzz", text);
    if (!file) expect_sound(file.error());
    if (file && file->hosts.empty()) expect_sound(read_fabric("fuzz", text, two_hosts()));
  } else if (is_ibnetdiscover(text)) {
    expect_sound(read_fabric("fuzz", text));
    expect_sound(read_fabric("fuzz", text, two_hosts()));
  }
  return 0;
}
