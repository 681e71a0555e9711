// The network between hosts on the HTML page: what is joined to what, counted.
#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

#include "base/plural.hpp"
#include "html_page.hpp"
#include "topology/export/markup.hpp"

namespace weft::topo_probe {
namespace {

using topology::Link;
using topology::LinkKind;
using topology::Node;
using topology::NodeKind;

// "leaf12" is one of the "leaf" switches.
std::string family(const Node& node) {
  if (node.host >= 0) return node.kind == NodeKind::Nic ? "NICs" : "hosts";
  return node.name.substr(0, node.name.find_last_not_of("0123456789.:-_") + 1);
}

}  // namespace

std::string network_html(const Report& report) {
  struct Sum {
    std::size_t links = 0;
    double gbs = 0;
  };
  std::map<std::tuple<std::string, std::string, double, std::string>, Sum> sums;
  for (const Link& link : report.graph.links) {
    if (link.kind != LinkKind::Network) continue;
    Sum& sum = sums[{family(report.locality.node(link.a)), family(report.locality.node(link.b)), link.bandwidth_gbs,
                     link.source}];
    ++sum.links;
    sum.gbs += link.bandwidth_gbs;
  }
  if (sums.empty()) return {};
  std::map<std::string, std::size_t> switches;
  for (int id : report.graph.ids(NodeKind::NetworkSwitch)) ++switches[family(report.locality.node(id))];
  std::string html = "<section><h2>Network</h2>\n<p>";
  std::string separator;
  for (const auto& [name, count] : switches) {
    html += separator + topology::escaped(base::plural(count, name.empty() ? "switch" : name + " switch"));
    separator = ", ";
  }
  html +=
      "</p>\n<table><tr><th>from</th><th>to</th><th>links</th><th>GB/s of one, each way</th><th>GB/s of all</th>"
      "<th>told by</th></tr>\n";
  for (const auto& [key, sum] : sums) {
    const auto& [from, to, gbs, source] = key;
    html +=
        fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.4g}</td><td>{:.6g}</td><td>{}</td></tr>\n",
                    topology::escaped(from), topology::escaped(to), sum.links, gbs, sum.gbs, topology::escaped(source));
  }
  return html + "</table></section>\n";
}

}  // namespace weft::topo_probe
